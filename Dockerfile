# The server in a container: docker build -t ggp . ; docker run -p 9148:9148 -v ggp:/var/lib/ggp ggp
# `scripts/try-dockerfile` carries out the same steps where no Docker engine runs.

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv
WORKDIR /build
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY gdl gdl
COPY players players
COPY server server
COPY rules rules
RUN python3 -m venv /opt/build && /opt/build/bin/pip install --no-cache-dir build && /opt/build/bin/python -m build --wheel --outdir /dist .
RUN python3 -m venv /opt/ggp && /opt/ggp/bin/pip install --no-cache-dir /dist/*.whl

FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3 ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --system --user-group --home-dir /var/lib/ggp --shell /usr/sbin/nologin ggp
RUN mkdir -p /var/lib/ggp /var/cache/ggp && chown ggp:ggp /var/lib/ggp /var/cache/ggp
COPY --from=build /opt/ggp /opt/ggp
ENV PATH=/opt/ggp/bin:/usr/bin:/bin PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/var/cache/ggp GGP_HOST=0.0.0.0 GGP_DATABASE=sqlite:////var/lib/ggp/ggp.sqlite
USER ggp
# Engine and players compile their kernels once, here, and not with the first match.
RUN ggp warm-up
WORKDIR /var/lib/ggp
VOLUME /var/lib/ggp
EXPOSE 9148
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD python3 -c "import urllib.request as r; r.urlopen('http://127.0.0.1:9148/readyz', timeout=4)"
ENTRYPOINT ["ggp"]
CMD ["serve"]
