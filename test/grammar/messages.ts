// The event grammar of `POST /v1/messages` streams (docs/streams.md#messages) as a state machine of its own: it shares
// no code with the writer or the relay, so that one mistake cannot hide in both.

interface Wire {
  event: string;
  data: Record<string, unknown>;
}

const MESSAGE_KEYS = [
  'id',
  'type',
  'role',
  'model',
  'content',
  'stop_reason',
  'stop_sequence',
  'stop_details',
  'container',
  'diagnostics',
  'usage',
  'svc',
];
const DELTA_KEYS = ['stop_reason', 'stop_sequence', 'stop_details', 'container'];
const USAGE_KEYS = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'output_tokens',
  'output_tokens_details',
  'server_tool_use',
];
const DELTAS: Record<string, readonly string[]> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
};

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function split(bytes: string, faults: string[]): Wire[] {
  const events: Wire[] = [];
  if (bytes !== '' && !bytes.endsWith('\n\n')) faults.push('the stream ends inside an event');
  for (const block of bytes.split('\n\n')) {
    // A comment may stand between any two events; before `message_start` it is all that can be sent.
    if (block === '' || /^: [^\n]*$/.test(block)) continue;
    const match = /^event: (\S+)\ndata: ([^\n]*)$/.exec(block);
    if (match === null) {
      faults.push(`not an event line followed by one data line: ${block.slice(0, 80)}`);
      continue;
    }
    let data: unknown;
    try {
      data = JSON.parse(match[2] as string);
    } catch {
      faults.push(`data of ${match[1]} is not JSON`);
      continue;
    }
    if (!isObject(data)) faults.push(`data of ${match[1]} is not an object`);
    else if (data['type'] !== match[1]) faults.push(`event ${match[1]} carries type ${String(data['type'])}`);
    else events.push({ event: match[1] as string, data });
  }
  return events;
}

class Machine {
  readonly faults: string[];
  readonly raw: boolean;
  private phase: 'before' | 'open' | 'settled' | 'over' = 'before';
  private request: unknown = null;
  private next = 0;
  private block: { index: number; type: string; json: string | null; signed: boolean } | null = null;
  private calls: string[] = [];

  constructor(faults: string[], raw: boolean) {
    this.faults = faults;
    this.raw = raw;
  }

  private say(fault: string): undefined {
    this.faults.push(fault);
  }

  take({ event, data }: Wire): undefined {
    if (this.phase === 'over') return this.say(`${event} after the end`);
    if (event === 'ping') return;
    if (event === 'error') return this.error(data);
    if (event === 'message_start') return this.start(data);
    if (this.phase === 'before') return this.say(`${event} before message_start`);
    if (event === 'message_stop') return this.stop();
    if (event === 'message_delta') return this.delta(data);
    if (this.phase === 'settled' && event.startsWith('content_block'))
      this.say(`${event} after message_delta`);
    if (event === 'content_block_start') this.blockStart(data);
    else if (event === 'content_block_delta') this.blockDelta(data);
    else if (event === 'content_block_stop') this.blockStop(data);
  }

  private start(data: Record<string, unknown>): undefined {
    if (this.phase !== 'before') return this.say('a second message_start');
    this.phase = 'open';
    const message = data['message'];
    if (!isObject(message)) return this.say('message_start without message');
    for (const key of MESSAGE_KEYS) if (!(key in message)) this.say(`message_start.message lacks ${key}`);
    if (!Array.isArray(message['content']) || message['content'].length !== 0) this.say('content is not []');
    if (message['stop_reason'] !== null) this.say('stop_reason is not null at the start');
    if (message['type'] !== 'message' || message['role'] !== 'assistant') this.say('type or role is wrong');
    const usage = message['usage'];
    if (!isObject(usage)) return this.say('message_start without usage');
    const total = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
    if (!total.some((key) => Number(usage[key]) > 0)) this.say('message_start tells an input of zero');
    const svc = message['svc'];
    if (!isObject(svc)) return this.say('message_start without svc');
    if (svc['cost'] !== null) this.say('message.svc.cost is not null');
    if (svc['request_id'] !== message['id']) this.say('message.svc.request_id is not the id');
    this.request = message['id'];
  }

  private blockStart(data: Record<string, unknown>): undefined {
    if (this.block !== null)
      this.say(`block ${String(data['index'])} starts inside block ${this.block.index}`);
    if (data['index'] !== this.next) this.say(`block index ${String(data['index'])}, expected ${this.next}`);
    const block = data['content_block'];
    if (!isObject(block) || typeof block['type'] !== 'string') return this.say('content_block without type');
    this.block = { index: this.next++, type: block['type'], json: null, signed: false };
    const empty = (key: string): void => {
      if (block[key] !== '') this.say(`${block['type']} block does not start with an empty ${key}`);
    };
    if (block['type'] === 'text') {
      empty('text');
      if (!this.raw && !('citations' in block)) this.say('text block without citations');
    } else if (block['type'] === 'thinking') {
      empty('thinking');
      empty('signature');
    } else if (block['type'] === 'redacted_thinking') {
      if (typeof block['data'] !== 'string' || block['data'] === '')
        this.say('redacted_thinking without data');
    } else if (block['type'] === 'tool_use') {
      if (typeof block['id'] !== 'string' || typeof block['name'] !== 'string')
        this.say('tool_use without id or name');
      else if (this.calls.includes(block['id'])) this.say(`tool_use id ${block['id']} twice`);
      else this.calls.push(block['id']);
      if (JSON.stringify(block['input']) !== '{}') this.say('tool_use does not start with an empty input');
    }
  }

  private blockDelta(data: Record<string, unknown>): undefined {
    const block = this.block;
    const delta = data['delta'];
    if (block === null || data['index'] !== block.index) return this.say('delta outside its block');
    if (!isObject(delta)) return this.say('content_block_delta without delta');
    const type = String(delta['type']);
    const allowed = DELTAS[block.type];
    if (allowed !== undefined && !allowed.includes(type)) this.say(`${type} in a ${block.type} block`);
    if (block.signed) this.say(`${type} after the signature`);
    if (type === 'signature_delta') {
      block.signed = true;
      if (typeof delta['signature'] !== 'string' || delta['signature'] === '')
        this.say('empty signature_delta');
    } else if (type === 'input_json_delta') {
      if (typeof delta['partial_json'] !== 'string') return this.say('input_json_delta without partial_json');
      block.json = (block.json ?? '') + delta['partial_json'];
    } else if (type === 'text_delta' && typeof delta['text'] !== 'string')
      this.say('text_delta without text');
    else if (type === 'thinking_delta' && typeof delta['thinking'] !== 'string') {
      this.say('thinking_delta without thinking');
    } else if (type === 'citations_delta' && !isObject(delta['citation']))
      this.say('citations_delta without citation');
  }

  private blockStop(data: Record<string, unknown>): undefined {
    const block = this.block;
    if (block === null || data['index'] !== block.index)
      return this.say('content_block_stop outside its block');
    this.block = null;
    if (block.type === 'tool_use' && block.json === null) this.say('tool_use without any input_json_delta');
  }

  private delta(data: Record<string, unknown>): undefined {
    if (this.block !== null) this.say('message_delta inside a block');
    if (this.phase === 'settled') this.say('a second message_delta');
    this.phase = 'settled';
    const delta = data['delta'];
    const usage = data['usage'];
    const svc = data['svc'];
    if (!isObject(delta)) this.say('message_delta without delta');
    else for (const key of DELTA_KEYS) if (!(key in delta)) this.say(`message_delta.delta lacks ${key}`);
    if (isObject(delta) && typeof delta['stop_reason'] !== 'string')
      this.say('message_delta without stop_reason');
    if (!isObject(usage)) this.say('message_delta without usage');
    else for (const key of USAGE_KEYS) if (!(key in usage)) this.say(`message_delta.usage lacks ${key}`);
    if (!isObject(svc)) return this.say('message_delta without svc beside usage');
    if (!isObject(svc['cost']) || typeof svc['cost']['total_micro_usd'] !== 'number')
      this.say('svc without cost');
    if (svc['request_id'] !== this.request) this.say('svc.request_id changed');
  }

  private stop(): undefined {
    if (this.phase !== 'settled') this.say('message_stop before message_delta');
    this.phase = 'over';
  }

  private error(data: Record<string, unknown>): undefined {
    this.phase = 'over';
    const error = data['error'];
    if (!isObject(error)) return this.say('error event without error');
    for (const key of ['type', 'message']) if (typeof error[key] !== 'string') this.say(`error lacks ${key}`);
    if (!isObject(error['details']) || typeof error['details']['error_code'] !== 'string') {
      this.say('error lacks details.error_code');
    }
    if (typeof data['request_id'] !== 'string') this.say('error event lacks request_id');
    if (!isObject(data['svc'])) this.say('error event lacks svc');
  }

  end(): undefined {
    if (this.phase !== 'over') this.say(`the stream ends without message_stop or error (${this.phase})`);
  }
}

/**
 * Checks one whole stream against the grammar. Returns a sentence per fault, [] for a legal stream. In
 * the raw lane block starts are the provider's own, so a nullable key may be missing there; events and block
 * types that the grammar does not name are not judged.
 */
export function checkMessagesStream(bytes: string, lane: 'canonical' | 'raw' = 'canonical'): string[] {
  const faults: string[] = [];
  const machine = new Machine(faults, lane === 'raw');
  for (const event of split(bytes, faults)) machine.take(event);
  machine.end();
  return faults;
}
