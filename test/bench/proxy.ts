// The bare proxy that every figure is compared with: node:http in front, undici behind, bytes piped, nothing read.
// Prints its port as one line of JSON. Argument: the upstream's origin.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const origin = process.argv[2] as string;
const pool = new Pool(origin, { connections: 4096, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

const server = createServer((req, res) => {
  const { host: _, connection: __, ...headers } = req.headers;
  const abort = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) abort.abort();
  });
  pool
    .stream(
      {
        path: req.url as string,
        method: 'POST',
        headers,
        body: req,
        signal: abort.signal,
      },
      (reply) => {
        const { connection: _, 'transfer-encoding': __, ...rest } = reply.headers;
        res.writeHead(reply.statusCode, rest as Record<string, string>);
        return res;
      },
    )
    .catch(() => res.destroy());
});
server.keepAliveTimeout = 60_000;
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as { port: number }).port })}\n`);
});
process.on('disconnect', () => process.exit(0));
