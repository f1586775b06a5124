// The provider of the bench: HTTP/1.1 written by hand on node:net, because an upstream that costs more than
// the gateway would hide it. Behaviour comes from the model name in the body (`bench-paced`), the wire
// format from the path. Prints its port as one line of JSON.
import { createServer, type Socket } from 'node:net';
import { type Behaviour, behaviours, type StreamWire, streams, type Wire, whole } from './replies.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
/** In the body, or for families that name the model there, in the path. */
const MODEL = Buffer.from('bench-');
const CHUNKED_END = Buffer.from('0\r\n\r\n');
const PACE_MS = 10;
/** Turns of the wheel between two chunks of a slow stream: ten chunks a second. */
const SLOW_TURNS = 10;
/** How long a delayed answer takes, which then comes whole. */
const DELAY_MS = 500;

interface Open {
  readonly socket: Socket;
  readonly wire: StreamWire;
  next: number;
  /** Turns left until its next chunk. */
  wait: number;
  readonly turns: number;
}

// Streams walk on a wheel of one slot per millisecond: each gets its chunk every 10 ms, and streams that
// began at different moments are not written in one burst.
const wheel: Set<Open>[] = Array.from({ length: PACE_MS }, () => new Set());
let slot = 0;
let turnAt = performance.now();
setInterval(() => {
  const now = performance.now();
  for (; turnAt + 1 <= now; turnAt += 1) {
    slot = (slot + 1) % PACE_MS;
    for (const stream of wheel[slot] as Set<Open>) step(stream);
  }
}, 1);

function step(stream: Open): void {
  if (stream.wait-- > 0) return;
  stream.wait = stream.turns - 1;
  const bytes = streams[stream.wire];
  const chunk = bytes.rest[stream.next++];
  if (chunk !== undefined) {
    stream.socket.write(chunk);
    return;
  }
  for (const each of wheel) each.delete(stream);
  stream.socket.write(bytes.last);
}

function burst(stream: Open): void {
  const bytes = streams[stream.wire];
  const chunk = bytes.bursts[stream.next++];
  if (chunk === undefined) {
    stream.socket.write(bytes.last);
    return;
  }
  if (stream.socket.write(chunk)) setImmediate(burst, stream);
  else stream.socket.once('drain', () => burst(stream));
}

function behaviourOf(request: Buffer): Behaviour {
  const at = request.indexOf(MODEL);
  const letter = at < 0 ? 0 : request[at + MODEL.length];
  return behaviours.find((b) => b.charCodeAt(0) === letter) ?? 'whole';
}

let begun = 0;

/** Starts an answer; returns the stream that has to leave the wheel when the connection ends, or null. */
function answer(socket: Socket, wire: Wire, request: Buffer): Open | null {
  const behaviour = wire === 'embeddings' ? 'whole' : behaviourOf(request);
  if (wire === 'embeddings' || (behaviour === 'whole' && (wire === 'openai' || wire === 'anthropic'))) {
    socket.write(whole[wire]);
    return null;
  }
  if (behaviour === 'delayed' && (wire === 'openai' || wire === 'anthropic')) {
    setTimeout(() => socket.write(whole[wire]), DELAY_MS);
    return null;
  }
  socket.write(streams[wire].first);
  const turns = behaviour === 'slow' ? SLOW_TURNS : 1;
  const stream: Open = { socket, wire, next: 0, wait: begun++ % turns, turns };
  if (behaviour === 'burst') setImmediate(burst, stream);
  if (behaviour !== 'paced' && behaviour !== 'slow') return null;
  (wheel[slot] as Set<Open>).add(stream);
  return stream;
}

/** By the path of the request, as each family names it. */
function wireOf(line: string): Wire {
  if (line.includes('/messages')) return 'anthropic';
  if (line.includes('/responses')) return 'responses';
  if (line.includes('/embeddings')) return 'embeddings';
  if (line.includes(':streamgeneratecontent')) return 'gemini';
  return line.includes('/converse-stream') ? 'bedrock' : 'openai';
}

/** Where the request at the start of `bytes` ends and what it asks for, or null when more has to come. */
function frame(bytes: Buffer): { end: number; wire: Wire } | null {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const body = headEnd + HEAD_END.length;
  const wire = wireOf(head.slice(0, head.indexOf('\r\n')));
  const length = /\r\ncontent-length: *(\d+)/.exec(head);
  if (length !== null) {
    const end = body + Number(length[1]);
    return bytes.length < end ? null : { end, wire };
  }
  if (!head.includes('\r\ntransfer-encoding: chunked')) return { end: body, wire };
  const last = bytes.indexOf(CHUNKED_END, body);
  return last < 0 ? null : { end: last + CHUNKED_END.length, wire };
}

const server = createServer({ noDelay: true }, (socket) => {
  let pieces: Buffer[] = [];
  let have = 0;
  let need = 0;
  let open: Open | null = null;
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    if (open !== null) for (const each of wheel) each.delete(open);
  });
  socket.on('data', (data) => {
    pieces.push(data);
    have += data.length;
    if (have < need) return;
    let bytes = pieces.length === 1 ? data : Buffer.concat(pieces, have);
    for (;;) {
      const request = frame(bytes);
      if (request === null) break;
      open = answer(socket, request.wire, bytes.subarray(0, request.end));
      bytes = bytes.subarray(request.end);
      if (bytes.length === 0) break;
    }
    pieces = bytes.length === 0 ? [] : [bytes];
    have = bytes.length;
    // A long body arrives in many reads: do not look at it again before about all of it can be there.
    const length = have === 0 ? null : /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, 2048));
    need = length === null ? 0 : Number(length[1]);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as { port: number }).port })}\n`);
});
process.on('disconnect', () => process.exit(0));
