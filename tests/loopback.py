"""A server of the usual chat interface on this machine, for tests: it says what a function of the request says."""

import contextlib
import http.server
import json
import threading


class Chat(http.server.BaseHTTPRequestHandler):
    """Answers each request by the server's `reply`, and keeps what it was asked in `seen`."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append(request)
        said = self.server.reply(request)
        if isinstance(said, int):  # a status
            return self.send_error(said)
        message = {"role": "assistant", "content": said}
        body = {
            "id": "1",
            "object": "chat.completion",
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(reply):
    """A running server with `url` and `seen`, the requests so far."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Chat) as web:
        web.reply, web.seen, web.url = reply, [], f"http://127.0.0.1:{web.server_port}/v1"
        threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield web
        web.shutdown()
