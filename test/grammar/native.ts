// Checks the bytes of a native stream against docs/streams.md#native, and puts one together as a client would.
// Written from the table alone and sharing nothing with the writer, so that a mistake is not made twice.

interface Json {
  [name: string]: unknown;
}

const MEMBERS = ['text', 'arguments', 'data', 'signature', 'citation', 'logprobs'] as const;
const STOPS = new Set([
  ...['end_turn', 'max_tokens', 'stop_sequence', 'tool_use', 'content_filter', 'refusal', 'pause'],
  ...['context_window', 'compaction', 'malformed', 'error'],
]);
const USAGE = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
];

function isJson(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

interface Candidate {
  open: number | null;
  parts: number;
  stopped: boolean;
}

class Checker {
  readonly faults: string[] = [];
  readonly candidates = new Map<number, Candidate>();
  seq = 0;
  started = false;
  over = false;
  failed = false;

  fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(text);
  }

  frame(frame: string, at: number): void {
    const name = `event ${at}`;
    if (frame === ': svc keep-alive') return;
    if (this.over) return this.fault(`${name}: something follows the last event`);
    const [first = '', second = '', ...more] = frame.split('\n');
    if (more.length > 0) return this.fault(`${name}: more than two lines`);
    if (!first.startsWith('event: ') || !second.startsWith('data: ')) {
      return this.fault(`${name}: not an event line and a data line`);
    }
    let value: unknown;
    try {
      value = JSON.parse(second.slice(6));
    } catch {
      return this.fault(`${name}: not JSON`);
    }
    if (!isJson(value)) return this.fault(`${name}: not an object`);
    if (value['type'] !== first.slice(7)) this.fault(`${name}: event name and type differ`);
    if (value['seq'] !== this.seq++) this.fault(`${name}: seq ${String(value['seq'])} out of order`);
    this.event(value, name);
  }

  event(value: Json, name: string): void {
    const { type } = value;
    if ((type === 'start') === this.started) this.fault(`${name}: '${String(type)}' out of place`);
    switch (type) {
      case 'start':
        this.started = true;
        if (typeof value['id'] !== 'string' || typeof value['model'] !== 'string')
          this.fault(`${name}: no id or model`);
        if (!Number.isInteger(value['created'])) this.fault(`${name}: no created`);
        return this.provider(value['provider_meta'], name);
      case 'part_start':
      case 'part_delta':
      case 'part_stop':
        return this.part(value, name);
      case 'stop':
        return this.stop(value, name);
      case 'end':
        return this.end(value, name);
      case 'error':
        return this.error(value, name);
      default:
        this.fault(`${name}: unknown type '${String(type)}'`);
    }
  }

  provider(meta: unknown, name: string): void {
    if (!isJson(meta)) return this.fault(`${name}: no provider_meta`);
    for (const key of ['provider', 'endpoint_id', 'region']) {
      if (typeof meta[key] !== 'string' || meta[key] === '')
        this.fault(`${name}: provider_meta.${key} is missing`);
    }
    if (!Number.isInteger(meta['attempt'])) this.fault(`${name}: provider_meta.attempt is missing`);
  }

  candidate(value: Json, name: string): Candidate {
    const index = value['candidate'];
    if (!Number.isInteger(index)) this.fault(`${name}: no candidate`);
    let found = this.candidates.get(index as number);
    if (found === undefined) {
      found = { open: null, parts: 0, stopped: false };
      this.candidates.set(index as number, found);
    }
    if (found.stopped) this.fault(`${name}: candidate ${String(index)} goes on after its stop`);
    return found;
  }

  part(value: Json, name: string): void {
    const candidate = this.candidate(value, name);
    const { part } = value;
    if (value['type'] === 'part_start') {
      if (candidate.open !== null) this.fault(`${name}: a part begins inside another`);
      if (part !== candidate.parts) this.fault(`${name}: part ${String(part)} instead of ${candidate.parts}`);
      candidate.open = candidate.parts++;
      const { content } = value;
      if (!isJson(content) || typeof content['type'] !== 'string') return this.fault(`${name}: no content`);
      const streams = content['type'] !== 'reasoning' || content['kind'] !== 'encrypted';
      if (streams && typeof content['text'] === 'string' && content['text'] !== '')
        this.fault(`${name}: begins with text`);
      if (content['type'] === 'tool_call' && content['arguments'] !== '')
        this.fault(`${name}: begins with arguments`);
      return;
    }
    if (part !== candidate.open) this.fault(`${name}: part ${String(part)} is not open`);
    if (value['type'] === 'part_stop') {
      candidate.open = null;
      return;
    }
    const members = MEMBERS.filter((member) => member in value);
    if (members.length !== 1) this.fault(`${name}: a delta of ${members.length} members`);
    const known = new Set<string>([...MEMBERS, 'type', 'seq', 'candidate', 'part']);
    for (const key of Object.keys(value)) if (!known.has(key)) this.fault(`${name}: unknown member '${key}'`);
  }

  stop(value: Json, name: string): void {
    const candidate = this.candidate(value, name);
    if (candidate.open !== null) this.fault(`${name}: stops inside a part`);
    candidate.stopped = true;
    const { stop } = value;
    if (stop === null) return;
    if (!isJson(stop) || !STOPS.has(stop['reason'] as string)) return this.fault(`${name}: no stop reason`);
    for (const key of ['sequence', 'detail'])
      if (!(key in stop)) this.fault(`${name}: stop.${key} is missing`);
  }

  money(value: Json, name: string): void {
    const { usage, cost } = value;
    if (!isJson(usage)) this.fault(`${name}: no usage`);
    else {
      for (const key of USAGE)
        if (typeof usage[key] !== 'number') this.fault(`${name}: usage.${key} is missing`);
    }
    if (!isJson(cost) || !Number.isInteger(cost['total_micro_usd'])) this.fault(`${name}: no cost`);
  }

  end(value: Json, name: string): void {
    this.over = true;
    this.money(value, name);
    this.provider(value['provider_meta'], name);
    if (!isJson(value['timing']) || !Array.isArray(value['warnings']))
      this.fault(`${name}: no timing or warnings`);
    if (!isJson(value['resolved'])) this.fault(`${name}: no resolved`);
    if (this.candidates.size === 0) this.fault(`${name}: no candidate at all`);
    for (const [index, { open, stopped }] of this.candidates) {
      if (open !== null) this.fault(`${name}: candidate ${index} ends inside a part`);
      if (!stopped) this.fault(`${name}: candidate ${index} has no stop`);
    }
  }

  error(value: Json, name: string): void {
    this.over = true;
    this.failed = true;
    this.money(value, name);
    const { error } = value;
    if (!isJson(error)) return this.fault(`${name}: no error`);
    for (const key of ['message', 'type', 'code', 'request_id']) {
      if (typeof error[key] !== 'string') this.fault(`${name}: error.${key} is missing`);
    }
    if (!('param' in error) || !isJson(error['details'])) this.fault(`${name}: error lacks param or details`);
  }
}

/** Faults of a whole native stream, [] when it follows the grammar; at most 20. */
export function checkNativeStream(bytes: string): string[] {
  const checker = new Checker();
  if (bytes.includes('\r')) checker.fault('carriage return');
  if (!bytes.endsWith('\n\n')) checker.fault('does not end with a blank line');
  const frames = bytes.split('\n\n');
  frames.pop();
  frames.forEach((frame, at) => {
    checker.frame(frame, at);
  });
  if (!checker.over) checker.fault('neither end nor error');
  return checker.faults;
}

// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
type Wire = any;

/**
 * The whole answer that a stream tells: deltas added up by candidate and part, the rest from `start` and `end`; an
 * error object instead where it failed.
 */
export function readNativeStream(bytes: string): Wire {
  const answer: Wire = { candidates: [] };
  const of = (index: number): Wire => {
    let found = answer.candidates.find((candidate: Wire) => candidate.index === index);
    if (found === undefined) {
      found = { index, content: [], stop: null };
      answer.candidates.push(found);
    }
    return found;
  };
  for (const frame of bytes.split('\n\n')) {
    const line = frame.split('\n').find((text) => text.startsWith('data: '));
    if (line === undefined) continue;
    const { type, seq: _seq, candidate, part, ...event }: Wire = JSON.parse(line.slice(6));
    if (type === 'start') Object.assign(answer, event, { request_id: event.id });
    else if (type === 'part_start') of(candidate).content[part] = event.content;
    else if (type === 'part_delta') add(of(candidate).content[part], event);
    else if (type === 'stop') of(candidate).stop = event.stop;
    else if (type === 'end' || type === 'error') Object.assign(answer, event);
  }
  answer.candidates.sort((a: Wire, b: Wire) => a.index - b.index);
  return answer;
}

function add(part: Wire, delta: Wire): void {
  const [[name, value]] = Object.entries<Wire>(delta) as [[string, Wire]];
  if (name === 'citation') part.citations = [...(part.citations ?? []), value];
  else if (name === 'logprobs') part.logprobs = [...(part.logprobs ?? []), ...value];
  else if (name === 'data' && part.src !== undefined) part.src.base64 += value;
  else {
    const member = name === 'text' && part.type === 'audio' ? 'transcript' : name;
    part[member] = (part[member] ?? '') + value;
  }
}
