# docker build -t rediscover . && docker run --rm -it rediscover          (make all, from the records)
# docker run --rm -it rediscover make test
FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make git chromium \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home reader
USER reader
WORKDIR /home/reader/rediscover
COPY --chown=reader . .
RUN make .venv/.ready
CMD ["make", "all"]
