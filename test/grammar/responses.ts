// The event grammar of `POST /v1/responses` streams (docs/streams.md#responses) as a machine of its own: it shares no
// code with the writer or the relay, so that one mistake cannot hide in both.

type Json = Record<string, unknown>;

const RESPONSE_KEYS = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'background', 'error', 'incomplete_details'],
  ...[
    'instructions',
    'max_output_tokens',
    'max_tool_calls',
    'metadata',
    'model',
    'output',
    'parallel_tool_calls',
  ],
  ...['previous_response_id', 'prompt_cache_key', 'reasoning', 'safety_identifier', 'service_tier', 'store'],
  ...[
    'temperature',
    'text',
    'tool_choice',
    'tools',
    'top_logprobs',
    'top_p',
    'truncation',
    'usage',
    'user',
    'svc',
  ],
];
const USAGE_KEYS = [
  ...['input_tokens', 'input_tokens_details', 'output_tokens', 'output_tokens_details', 'total_tokens'],
];
const ENDS = ['response.completed', 'response.incomplete', 'response.failed'];
const FAILURES = ['server_error', 'rate_limit_exceeded', 'invalid_prompt'];

/** Event families that stream one text: item type, part type or null, member of `done`, index member or null. */
const TEXTS: Record<string, { item: string; part: string | null; member: string; index: string | null }> = {
  output_text: { item: 'message', part: 'output_text', member: 'text', index: 'content_index' },
  refusal: { item: 'message', part: 'refusal', member: 'refusal', index: 'content_index' },
  reasoning_summary_text: { item: 'reasoning', part: 'summary_text', member: 'text', index: 'summary_index' },
  reasoning_text: { item: 'reasoning', part: 'reasoning_text', member: 'text', index: 'content_index' },
  function_call_arguments: { item: 'function_call', part: null, member: 'arguments', index: null },
  custom_tool_call_input: { item: 'custom_tool_call', part: null, member: 'input', index: null },
};
const KNOWN_ITEMS = new Set(Object.values(TEXTS).map(({ item }) => item));

function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function split(bytes: string, faults: string[]): Json[] {
  const events: Json[] = [];
  if (bytes !== '' && !bytes.endsWith('\n\n')) faults.push('the stream ends inside an event');
  for (const block of bytes.split('\n\n')) {
    if (block === '' || /^: [^\n]*$/.test(block)) continue;
    const match = /^event: (\S+)\ndata: ([^\n]*)$/.exec(block);
    if (match === null) {
      faults.push(`not an event line followed by one data line: ${block.slice(0, 80)}`);
      continue;
    }
    try {
      const data: unknown = JSON.parse(match[2] as string);
      if (!isObject(data)) faults.push(`data of ${match[1]} is not an object`);
      else if (data['type'] !== match[1])
        faults.push(`event ${match[1]} carries type ${String(data['type'])}`);
      else events.push(data);
    } catch {
      faults.push(`data of ${match[1]} is not JSON`);
    }
  }
  return events;
}

interface Part {
  type: string;
  index: number;
  text: string;
  notes: unknown[];
  texted: boolean;
}

interface Item {
  id: string;
  type: string;
  index: number;
  contents: number;
  summaries: number;
  part: Part | null;
  /** Text of a call and whether it is done. */
  text: string;
  texted: boolean;
}

class Machine {
  readonly faults: string[];
  private sequence = 0;
  private state: 'before' | 'created' | 'open' | 'over' = 'before';
  private identity: Json = {};
  private item: Item | null = null;
  private readonly done: Json[] = [];
  private readonly ids = new Set<string>();

  constructor(faults: string[]) {
    this.faults = faults;
  }

  private say(fault: string): undefined {
    if (this.faults.length < 20) this.faults.push(fault);
  }

  take(data: Json): undefined {
    const type = String(data['type']);
    if (data['sequence_number'] !== this.sequence) {
      this.say(`${type} has sequence_number ${String(data['sequence_number'])}, expected ${this.sequence}`);
    }
    this.sequence++;
    if (this.state === 'over') return this.say(`${type} after the end`);
    if (type === 'response.created') return this.begin(data);
    if (this.state === 'before') return this.say(`${type} before response.created`);
    if (type === 'response.in_progress') return this.progress(data);
    if (this.state === 'created') this.say(`${type} before response.in_progress`);
    this.state = 'open';
    if (ENDS.includes(type)) return this.end(type, data);
    if (type === 'response.output_item.added') return this.itemAdded(data);
    if (type === 'response.output_item.done') return this.itemDone(data);
    this.inItem(type, data);
  }

  private response(type: string, data: Json): Json {
    const response = data['response'];
    if (!isObject(response)) {
      this.say(`${type} without response`);
      return {};
    }
    for (const key of RESPONSE_KEYS) if (!(key in response)) this.say(`${type}: response lacks ${key}`);
    if (response['object'] !== 'response') this.say(`${type}: object is not response`);
    if (response['store'] !== false || response['background'] !== false)
      this.say(`${type}: store or background`);
    if (response['previous_response_id'] !== null) this.say(`${type}: previous_response_id is not null`);
    for (const key of ['id', 'model', 'created_at']) {
      if (key in this.identity && this.identity[key] !== response[key]) this.say(`${type}: ${key} changed`);
    }
    const svc = response['svc'];
    if (!isObject(svc) || svc['request_id'] !== response['id'])
      this.say(`${type}: svc.request_id is not the id`);
    return response;
  }

  private begin(data: Json): undefined {
    if (this.state !== 'before') return this.say('a second response.created');
    this.state = 'created';
    const response = this.response('response.created', data);
    this.identity = { id: response['id'], model: response['model'], created_at: response['created_at'] };
    this.fresh('response.created', response);
  }

  private progress(data: Json): undefined {
    if (this.state !== 'created') this.say('response.in_progress out of place');
    this.state = 'open';
    this.fresh('response.in_progress', this.response('response.in_progress', data));
  }

  private fresh(type: string, response: Json): undefined {
    if (response['status'] !== 'in_progress') this.say(`${type}: status is not in_progress`);
    if (JSON.stringify(response['output']) !== '[]') this.say(`${type}: output is not []`);
    if (response['usage'] !== null) this.say(`${type}: usage before the end`);
  }

  private itemAdded(data: Json): undefined {
    if (this.item !== null) this.say(`an item is added inside item ${this.item.index}`);
    const { item, output_index: index } = data;
    if (index !== this.done.length) this.say(`output_index ${String(index)}, expected ${this.done.length}`);
    if (!isObject(item) || typeof item['type'] !== 'string') return this.say('added without an item');
    const id = String(item['id'] ?? '');
    if (id === '' || this.ids.has(id)) this.say(`item id '${id}' is empty or not new`);
    this.ids.add(id);
    const { type } = item;
    if (type === 'message' && JSON.stringify(item['content']) !== '[]')
      this.say('message is added with content');
    if (type === 'reasoning' && JSON.stringify(item['summary']) !== '[]')
      this.say('reasoning is added with summary');
    for (const key of ['arguments', 'input']) {
      if (KNOWN_ITEMS.has(type) && key in item && item[key] !== '') this.say(`${type} is added with ${key}`);
    }
    if (type === 'function_call' || type === 'custom_tool_call') this.callAdded(item);
    this.item = {
      ...{ id, type, index: Number(index), contents: 0, summaries: 0, part: null, text: '', texted: false },
    };
  }

  private callAdded(item: Json): undefined {
    const id = `call ${String(item['call_id'] ?? '')}`;
    if (id === 'call ' || this.ids.has(id)) this.say(`call_id of ${id} is empty or not new`);
    this.ids.add(id);
    if (typeof item['name'] !== 'string') this.say('a call without name');
  }

  private itemDone(data: Json): undefined {
    const open = this.item;
    const { item } = data;
    if (open === null || data['output_index'] !== open.index) return this.say('item done outside its place');
    this.item = null;
    if (!isObject(item)) return this.say('done without an item');
    this.done.push(item);
    if (item['id'] !== open.id || item['type'] !== open.type) this.say('item done under another id or type');
    if (open.part !== null) this.say(`item ${open.index} is done inside a part`);
    const contents = open.type === 'message' || open.type === 'reasoning';
    if (contents && listOf(item['content']).length !== open.contents)
      this.say('item done with other contents');
    if (open.type === 'reasoning' && listOf(item['summary']).length !== open.summaries) {
      this.say('reasoning done with other summaries');
    }
    if (item['status'] === 'in_progress') this.say('item done in progress');
    const member = open.type === 'function_call' ? 'arguments' : 'input';
    if (open.type === 'function_call' || open.type === 'custom_tool_call') {
      if (!open.texted) this.say(`${open.type} done before its ${member}`);
      if (item[member] !== open.text) this.say(`${open.type} done with other ${member}`);
    }
  }

  /** Events that stand inside an item. */
  private inItem(type: string, data: Json): undefined {
    const open = this.item;
    if (open === null) return this.say(`${type} outside an item`);
    if (data['item_id'] !== open.id || data['output_index'] !== open.index)
      this.say(`${type} names another item`);
    const match =
      /^response\.(?:(content_part|reasoning_summary_part)\.(added|done)|(.+)\.(delta|done|added))$/.exec(
        type,
      );
    if (match === null) return this.say(`${type} is not an event of the grammar`);
    if (match[1] !== undefined) {
      return match[2] === 'added' ? this.partAdded(type, data, open) : this.partDone(type, data, open);
    }
    if (match[3] === 'output_text.annotation') return this.annotation(data, open);
    const words = TEXTS[match[3] as string];
    if (words === undefined || match[4] === 'added')
      return this.say(`${type} is not an event of the grammar`);
    if (words.item !== open.type) return this.say(`${type} in a ${open.type} item`);
    this.text(type, match[4] === 'done', data, { open, words });
  }

  private partAdded(type: string, data: Json, open: Item): undefined {
    if (open.part !== null) this.say('a part is added inside a part');
    const part = data['part'];
    if (!isObject(part)) return this.say(`${type} without part`);
    const summary = type.startsWith('response.reasoning_summary_part');
    const index = summary ? data['summary_index'] : data['content_index'];
    const expected = summary ? open.summaries++ : open.contents++;
    if (index !== expected) this.say(`${type}: index ${String(index)}, expected ${expected}`);
    const kinds = Object.values(TEXTS).filter(({ item }) => item === open.type);
    const words = kinds.find((kind) => kind.part === part['type']);
    if (words === undefined) return this.say(`part ${String(part['type'])} in a ${open.type} item`);
    if ((words.index === 'summary_index') !== summary) this.say(`${type} with part ${String(part['type'])}`);
    if (part[words.member] !== '') this.say('a part is added with text');
    if (part['type'] === 'output_text') {
      for (const key of ['annotations', 'logprobs']) {
        if (JSON.stringify(part[key]) !== '[]') this.say(`a text part is added without empty ${key}`);
      }
    }
    open.part = { type: String(part['type']), index: expected, text: '', notes: [], texted: false };
  }

  private partDone(type: string, data: Json, open: Item): undefined {
    const { part } = open;
    open.part = null;
    if (part === null) return this.say(`${type} without an open part`);
    const reported = data['part'];
    const index = type.startsWith('response.reasoning_summary_part') ? 'summary_index' : 'content_index';
    if (data[index] !== part.index) this.say(`${type}: another index`);
    if (!part.texted) this.say(`${type} before its text is done`);
    if (!isObject(reported) || reported['type'] !== part.type) return this.say(`${type}: another part type`);
    if ((reported['text'] ?? reported['refusal']) !== part.text) this.say(`${type}: another text`);
    const notes = reported['annotations'] ?? [];
    if (JSON.stringify(notes) !== JSON.stringify(part.notes)) this.say(`${type}: other annotations`);
  }

  private annotation(data: Json, open: Item): undefined {
    const { part } = open;
    if (part?.type !== 'output_text' || part.texted) return this.say('an annotation outside a text part');
    if (data['content_index'] !== part.index) this.say('an annotation names another part');
    if (data['annotation_index'] !== part.notes.length) this.say('annotation_index is not the next');
    part.notes.push(data['annotation']);
  }

  private text(
    type: string,
    last: boolean,
    data: Json,
    { open, words }: { open: Item; words: (typeof TEXTS)[string] },
  ): undefined {
    const holder = words.part === null ? open : open.part;
    if (holder === null || (words.part !== null && open.part?.type !== words.part)) {
      return this.say(`${type} outside its part`);
    }
    if (words.index !== null && data[words.index] !== open.part?.index) this.say(`${type}: another index`);
    if (holder.texted) this.say(`${type} after done`);
    if (words.part === 'output_text' && !Array.isArray(data['logprobs']))
      this.say(`${type} without logprobs`);
    if (!last) {
      if (typeof data['delta'] !== 'string') return this.say(`${type} without delta`);
      holder.text += data['delta'];
      return;
    }
    holder.texted = true;
    if (data[words.member] !== holder.text) this.say(`${type} is not the sum of its deltas`);
    if (type === 'response.function_call_arguments.done' && typeof data['name'] !== 'string') {
      this.say(`${type} without name`);
    }
  }

  private end(type: string, data: Json): undefined {
    this.state = 'over';
    const response = this.response(type, data);
    const status = type.slice('response.'.length);
    if (response['status'] !== status) this.say(`${type} with status ${String(response['status'])}`);
    const usage = response['usage'];
    if (!isObject(usage)) this.say(`${type} without usage`);
    else for (const key of USAGE_KEYS) if (!(key in usage)) this.say(`${type}: usage lacks ${key}`);
    const svc = response['svc'];
    if (!isObject(svc) || !isObject(svc['cost'])) this.say(`${type}: svc without cost`);
    const output = listOf(response['output']);
    const whole = JSON.stringify(output.slice(0, this.done.length)) === JSON.stringify(this.done);
    if (!whole) this.say(`${type}: output is not the items that were done`);
    if (status !== 'failed') {
      if (this.item !== null) this.say(`${type} inside an item`);
      if (output.length !== this.done.length) this.say(`${type} shows items that were not done`);
    } else this.failed(response, output);
    const reason = response['incomplete_details'];
    if ((status === 'incomplete') !== isObject(reason)) this.say(`${type}: incomplete_details`);
    if ((status === 'failed') !== isObject(response['error'])) this.say(`${type}: error`);
    if ((status === 'completed') !== (typeof response['completed_at'] === 'number'))
      this.say(`${type}: completed_at`);
  }

  private failed(response: Json, output: readonly Json[]): undefined {
    const open = output.slice(this.done.length);
    const expected = this.item === null ? 0 : 1;
    if (open.length > expected) this.say('a failed response shows items that were never added');
    if (open[0] !== undefined && open[0]['id'] !== this.item?.id)
      this.say('a failed response shows another item');
    if (open[0]?.['status'] === 'completed' && open[0]['type'] !== 'custom_tool_call') {
      this.say('a failed response calls a cut item completed');
    }
    const error = response['error'];
    if (
      !isObject(error) ||
      !FAILURES.includes(String(error['code'])) ||
      typeof error['message'] !== 'string'
    ) {
      this.say('a failed response without an error that clients know');
    }
  }

  close(): undefined {
    if (this.state !== 'over') this.say(`the stream ends without its last event (${this.state})`);
  }
}

/**
 * Checks one whole stream against the grammar. Returns a sentence per fault, [] for a legal stream. Items of
 * types that the grammar does not name must be added and done like any other; what is inside them is a fault.
 */
export function checkResponsesStream(bytes: string): string[] {
  const faults: string[] = [];
  const machine = new Machine(faults);
  for (const event of split(bytes, faults)) machine.take(event);
  machine.close();
  return faults;
}
