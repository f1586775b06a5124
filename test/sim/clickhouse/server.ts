// A ClickHouse server for tests: the engine of npm `chdb` behind the part of ClickHouse's HTTP interface that the official
// client uses. The product reaches it by an address, as it reaches a real server, and knows nothing of the engine.
//
//   node server.ts FOLDER-OF-CHDB FOLDER-OF-DATA [PORT]      prints `listening PORT` once it answers
import { createServer, type IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

interface Answer {
  bytes(): Uint8Array;
}
interface Session {
  queryAsync(text: string, options: { format: string }): Promise<Answer>;
  queryBindAsync(text: string, values: object, options: { format: string }): Promise<Answer>;
}

const [chdb_folder = '', data_folder = '', port = '0'] = process.argv.slice(2);
const { Session: Engine } = createRequire(join(chdb_folder, 'x.js'))('chdb') as {
  Session: new (path: string) => Session;
};
const engine = new Engine(data_folder);

/** What the client sends for the HTTP layer alone, and what is no setting. */
const NO_SETTINGS = new Set([
  ...['query', 'query_id', 'database', 'session_id', 'role', 'wait_end_of_query', 'default_format'],
  ...['enable_http_compression', 'send_progress_in_http_headers', 'http_headers_progress_interval_ms'],
]);
const FORMAT = /\s+FORMAT\s+(\w+)\s*;?\s*$/i;

/** Settings belong to one statement; in this engine `SET` would keep them for whatever comes next. */
function withSettings(text: string, settings: readonly [string, string][]): string {
  if (settings.length === 0 || !/^\s*(?:select|insert|with)\b/i.test(text)) return text;
  const shown = settings.map(
    ([name, value]) => `${name} = ${/^-?\d+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`}`,
  );
  const words = ` SETTINGS ${shown.join(', ')}`;
  if (FORMAT.test(text)) return text.replace(FORMAT, (format) => `${words}${format}`);
  return `${text}${words}`;
}

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', 0: '\0' };

/** A value of a parameter as the HTTP interface escapes it; the engine escapes it again. */
function unescaped(value: string): string | null {
  if (value === '\\N') return null;
  return value.replace(/\\(.)/gs, (_, mark: string) => ESCAPES[mark] ?? mark);
}

/** The items of an array of strings or numbers: `['a','it\\'s']`. */
function itemsOf(value: string): (string | number)[] {
  const found = value.matchAll(/'((?:\\.|[^'\\])*)'|(-?\d[\d.]*)/gs);
  return [...found].map(([, text, number]) =>
    number === undefined ? String(unescaped(text ?? '')) : Number(number),
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces);
  return (request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}

async function run(query: URLSearchParams, body: string): Promise<Uint8Array> {
  const in_query = query.get('query');
  const settings = [...query].filter(([name]) => !NO_SETTINGS.has(name) && !name.startsWith('param_'));
  const statement = withSettings(in_query ?? body, settings);
  const values = Object.fromEntries(
    [...query]
      .filter(([name]) => name.startsWith('param_'))
      .map(([name, value]) => {
        const parameter = name.slice(6);
        const is_array = new RegExp(`\\{${parameter}:\\s*Array`).test(statement);
        return [parameter, is_array ? itemsOf(value) : unescaped(value)];
      }),
  );
  const use = query.get('database') ?? 'default';
  const text = `USE \`${use}\`; ${statement}${in_query === null ? '' : `\n${body}`}`;
  const options = { format: FORMAT.exec(statement)?.[1] ?? 'TabSeparated' };
  const answer =
    Object.keys(values).length === 0
      ? await engine.queryAsync(text, options)
      : await engine.queryBindAsync(text, values, options);
  return answer.bytes();
}

/** One statement at a time, since `USE` is the session's. */
let turn: Promise<unknown> = Promise.resolve();

const server = createServer(async (request, reply) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  if (url.pathname === '/ping') return reply.end('Ok.\n');
  const body = await bodyOf(request);
  const ran = turn.then(() => run(url.searchParams, body));
  turn = ran.catch(() => {});
  try {
    reply.end(Buffer.from(await ran));
  } catch (error) {
    reply.statusCode = 500;
    reply.end(String((error as Error).message));
  }
});
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
