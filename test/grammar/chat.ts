// Checks the bytes of a chat stream against docs/streams.md#chat. Written from the grammar alone and
// sharing nothing with the writers, so that a mistake is not made twice.

interface Json {
  [name: string]: unknown;
}

interface Call {
  kind: 'function' | 'custom';
  arguments: string;
}

interface Choice {
  finished: boolean;
  text: boolean;
  calls: Call[];
  function_call: boolean;
}

export interface ChatGrammarOptions {
  include_usage: boolean;
}

const FINISHES = new Set(['stop', 'length', 'tool_calls', 'content_filter', 'function_call']);
const USAGE_KEYS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

function isJson(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

class Checker {
  readonly faults: string[] = [];
  readonly options: ChatGrammarOptions;
  readonly choices = new Map<number, Choice>();
  identity: Json | null = null;
  done = false;
  failed = false;
  usage = false;
  /** Chunks that carried `svc`, and chunks in all. */
  svc_at = -1;
  chunks = 0;

  constructor(options: ChatGrammarOptions) {
    this.options = options;
  }

  fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(text);
  }

  event(frame: string, at: number): void {
    const name = `event ${at}`;
    if (this.done) return this.fault(`${name}: something follows [DONE]`);
    if (frame === ': svc keep-alive') return;
    if (frame.includes('\n')) return this.fault(`${name}: more than one line`);
    if (!frame.startsWith('data: ')) return this.fault(`${name}: does not start with "data: "`);
    const data = frame.slice(6);
    if (data === '[DONE]') {
      this.done = true;
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      return this.fault(`${name}: not JSON`);
    }
    if (!isJson(value)) return this.fault(`${name}: not an object`);
    if (this.failed) return this.fault(`${name}: a chunk follows the error`);
    if ('error' in value) return this.error(value, name);
    this.chunk(value, name);
  }

  error(value: Json, name: string): void {
    this.failed = true;
    for (const key of ['choices', 'id', 'object']) {
      if (key in value) this.fault(`${name}: the error carries '${key}'`);
    }
    const { error } = value;
    if (!isJson(error)) return this.fault(`${name}: error is no object`);
    for (const key of ['message', 'type', 'code', 'request_id']) {
      if (typeof error[key] !== 'string') this.fault(`${name}: error.${key} is missing`);
    }
    if (!('param' in error) || !isJson(error['details'])) this.fault(`${name}: error lacks param or details`);
    if (!isJson(value['svc'])) this.fault(`${name}: the error has no svc`);
  }

  chunk(value: Json, name: string): void {
    this.chunks++;
    if (this.usage) this.fault(`${name}: a chunk follows the usage chunk`);
    if (this.svc_at >= 0) this.fault(`${name}: a chunk follows the one with svc`);
    if (value['object'] !== 'chat.completion.chunk') this.fault(`${name}: wrong object`);
    const { id, created, model } = value;
    if (typeof id !== 'string' || typeof created !== 'number' || typeof model !== 'string') {
      this.fault(`${name}: id, created or model is missing`);
    }
    this.identity ??= { id, created, model };
    for (const [key, first] of Object.entries(this.identity)) {
      if (value[key] !== first) this.fault(`${name}: ${key} changed`);
    }
    if ('svc' in value) {
      if (!isJson(value['svc'])) this.fault(`${name}: svc is no object`);
      this.svc_at = this.chunks;
    }
    const { choices } = value;
    if (!Array.isArray(choices)) return this.fault(`${name}: no choices`);
    this.usageOf(value, choices.length === 0, name);
    if (choices.length > 1) this.fault(`${name}: more than one choice`);
    for (const choice of choices) this.choice(choice, name);
  }

  usageOf(value: Json, alone: boolean, name: string): void {
    const { usage } = value;
    if (!this.options.include_usage) {
      if ('usage' in value) this.fault(`${name}: usage was not asked for`);
      if (alone) this.fault(`${name}: no choice`);
      return;
    }
    if (!alone) {
      if (usage !== null) this.fault(`${name}: usage is not null before the usage chunk`);
      return;
    }
    this.usage = true;
    if (!isJson(usage)) return this.fault(`${name}: a chunk without choices and without usage`);
    for (const key of USAGE_KEYS) {
      if (typeof usage[key] !== 'number') this.fault(`${name}: usage.${key} is missing`);
    }
    for (const choice of this.choices.values()) {
      if (!choice.finished) this.fault(`${name}: usage before a finish`);
    }
  }

  choice(value: unknown, name: string): void {
    if (!isJson(value)) return this.fault(`${name}: choice is no object`);
    const { index, delta, finish_reason } = value;
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) {
      return this.fault(`${name}: choice without index`);
    }
    if (!isJson(delta)) return this.fault(`${name}: choice without delta`);
    if (!('finish_reason' in value)) this.fault(`${name}: no finish_reason`);
    const known = this.choices.get(index);
    if (known === undefined) return this.role(index, delta, finish_reason, name);
    if (known.finished) this.fault(`${name}: choice ${index} goes on after its finish`);
    if ('role' in delta) this.fault(`${name}: role a second time`);
    if (finish_reason === null || finish_reason === undefined) return this.delta(known, delta, name);
    if (!FINISHES.has(finish_reason as string))
      this.fault(`${name}: unknown finish '${String(finish_reason)}'`);
    if (Object.values(delta).some((member) => member !== null && member !== '')) {
      this.fault(`${name}: finish together with content`);
    }
    known.finished = true;
  }

  role(index: number, delta: Json, finish: unknown, name: string): void {
    this.choices.set(index, { finished: false, text: false, calls: [], function_call: false });
    if (delta['role'] !== 'assistant') this.fault(`${name}: choice ${index} begins without a role`);
    if (delta['content'] !== '' && delta['content'] !== null)
      this.fault(`${name}: the role chunk has content`);
    const { role: _role, content: _content, ...rest } = delta;
    if (Object.values(rest).some((member) => member !== null && member !== '')) {
      this.fault(`${name}: the role chunk carries more`);
    }
    if (finish !== null) this.fault(`${name}: the role chunk finishes`);
  }

  delta(choice: Choice, delta: Json, name: string): void {
    const { content, reasoning_content, tool_calls, function_call } = delta;
    if (typeof reasoning_content === 'string' && reasoning_content !== '' && choice.text) {
      this.fault(`${name}: reasoning after text`);
    }
    if (typeof content === 'string' && content !== '') {
      choice.text = true;
      if (Array.isArray(tool_calls)) this.fault(`${name}: text and a tool call in one delta`);
    }
    if (Array.isArray(tool_calls)) {
      if (tool_calls.length !== 1) this.fault(`${name}: ${tool_calls.length} tool calls in one delta`);
      for (const call of tool_calls) this.call(choice, call, name);
    }
    if (isJson(function_call)) {
      if (!choice.function_call && typeof function_call['name'] !== 'string')
        this.fault(`${name}: call without name`);
      if (choice.function_call && 'name' in function_call) this.fault(`${name}: function name a second time`);
      choice.function_call = true;
    }
  }

  call(choice: Choice, value: unknown, name: string): void {
    if (!isJson(value)) return this.fault(`${name}: tool call is no object`);
    const { index, id, type } = value;
    if (index === choice.calls.length) {
      if (typeof id !== 'string' || id === '') this.fault(`${name}: call ${index} begins without id`);
      if (type !== 'function' && type !== 'custom')
        return this.fault(`${name}: call ${index} begins without type`);
      const body = value[type];
      if (!isJson(body) || typeof body['name'] !== 'string') return this.fault(`${name}: call without name`);
      if (body[type === 'custom' ? 'input' : 'arguments'] !== '')
        this.fault(`${name}: call begins with arguments`);
      choice.calls.push({ kind: type, arguments: '' });
      return;
    }
    const open = choice.calls.at(-1);
    if (open === undefined || index !== choice.calls.length - 1) {
      return this.fault(`${name}: call index ${String(index)} while ${choice.calls.length - 1} is open`);
    }
    if ('id' in value || 'type' in value) this.fault(`${name}: id or type of a call a second time`);
    const body = value[open.kind];
    const text = isJson(body) ? body[open.kind === 'custom' ? 'input' : 'arguments'] : undefined;
    if (typeof text !== 'string') return this.fault(`${name}: call delta without arguments`);
    if (isJson(body) && 'name' in body) this.fault(`${name}: name of a call a second time`);
    open.arguments += text;
  }

  end(): void {
    if (!this.done) this.fault('no [DONE]');
    if (this.failed) return;
    if (this.choices.size === 0) this.fault('no choice at all');
    for (const [index, choice] of this.choices)
      if (!choice.finished) this.fault(`choice ${index} has no finish`);
    if (this.options.include_usage && !this.usage) this.fault('no usage chunk');
    if (this.svc_at < 0) this.fault('no svc');
  }
}

/** Faults of a whole chat stream, [] when it follows the grammar; at most 20. */
export function checkChatStream(bytes: string, options: ChatGrammarOptions): string[] {
  const checker = new Checker(options);
  if (bytes.includes('\r')) checker.fault('carriage return');
  if (!bytes.endsWith('\n\n')) checker.fault('does not end with a blank line');
  const frames = bytes.split('\n\n');
  frames.pop();
  frames.forEach((frame, at) => {
    checker.event(frame, at);
  });
  checker.end();
  return checker.faults;
}
