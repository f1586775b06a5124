// Checks the bytes of a stream of text completions against docs/streams.md#completions. Written from the grammar
// alone and sharing nothing with the writer.

interface Json {
  [name: string]: unknown;
}

function isJson(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

const FINISHES = new Set(['stop', 'length', 'content_filter']);

/** Faults of a whole stream, [] when it follows the grammar; at most 20. */
export function checkCompletionsStream(bytes: string, options: { include_usage: boolean }): string[] {
  const faults: string[] = [];
  const fault = (text: string) => {
    if (faults.length < 20) faults.push(text);
  };
  if (bytes.includes('\r')) fault('carriage return');
  if (!bytes.endsWith('\n\n')) fault('does not end with a blank line');
  const frames = bytes.split('\n\n').slice(0, -1);
  const finished = new Map<number, boolean>();
  let identity: string | null = null;
  let last: 'chunk' | 'usage' | 'svc' | 'error' | 'done' | null = null;
  let usage_seen = false;

  const choice = (value: unknown, name: string) => {
    if (!isJson(value) || !Number.isInteger(value['index'])) return fault(`${name}: choice without index`);
    const { index, text, finish_reason } = value;
    if (typeof text !== 'string') fault(`${name}: choice without text`);
    if (!('logprobs' in value) || !('finish_reason' in value))
      fault(`${name}: choice lacks logprobs or finish_reason`);
    if ('delta' in value) fault(`${name}: choice of another dialect`);
    if (finished.get(index as number) === true)
      fault(`${name}: choice ${String(index)} goes on after its finish`);
    finished.set(index as number, finish_reason !== null);
    if (finish_reason === null) return;
    if (!FINISHES.has(finish_reason as string)) fault(`${name}: unknown finish '${String(finish_reason)}'`);
    if (text !== '') fault(`${name}: finish together with text`);
  };

  const chunk = (value: Json, name: string) => {
    if (last === 'usage' || last === 'svc') fault(`${name}: a chunk follows the last one`);
    if (value['object'] !== 'text_completion') fault(`${name}: wrong object`);
    const { id, created, model, choices, usage } = value;
    const own = JSON.stringify([id, created, model]);
    identity ??= own;
    if (typeof id !== 'string' || !Number.isInteger(created) || own !== identity)
      fault(`${name}: identity changed`);
    if (!Array.isArray(choices)) return fault(`${name}: no choices`);
    for (const item of choices) choice(item, name);
    last = 'svc' in value ? 'svc' : 'chunk';
    if (!options.include_usage) {
      if ('usage' in value) fault(`${name}: usage was not asked for`);
      if (choices.length !== 1) fault(`${name}: ${choices.length} choices`);
      return;
    }
    if (choices.length > 0) {
      if (usage !== null) fault(`${name}: usage is not null before the usage chunk`);
      return;
    }
    usage_seen = true;
    if (!isJson(usage) || typeof usage['total_tokens'] !== 'number')
      fault(`${name}: no usage in the usage chunk`);
    if (![...finished.values()].every(Boolean)) fault(`${name}: usage before a finish`);
  };

  const event = (frame: string, at: number) => {
    const name = `event ${at}`;
    if (last === 'done') return fault(`${name}: something follows [DONE]`);
    if (frame === ': svc keep-alive') return;
    if (frame.includes('\n') || !frame.startsWith('data: ')) return fault(`${name}: not one data line`);
    if (frame === 'data: [DONE]') {
      if (last !== 'svc' && last !== 'error') fault(`${name}: no svc on the last chunk`);
      last = 'done';
      return;
    }
    let value: unknown;
    try {
      value = JSON.parse(frame.slice(6));
    } catch {
      return fault(`${name}: not JSON`);
    }
    if (!isJson(value)) return fault(`${name}: not an object`);
    if (last === 'error') fault(`${name}: a chunk follows the error`);
    if (!('error' in value)) return chunk(value, name);
    last = 'error';
    if ('choices' in value || 'id' in value) fault(`${name}: the error looks like a chunk`);
    if (!isJson(value['error']) || typeof value['error']['code'] !== 'string')
      fault(`${name}: error without code`);
    finished.clear();
    usage_seen = true;
    finished.set(0, true);
  };
  frames.forEach((frame, at) => {
    event(frame, at);
  });
  if (last !== 'done') fault('no [DONE]');
  if (finished.size === 0) fault('no choice at all');
  for (const [index, done] of finished) if (!done) fault(`choice ${index} has no finish`);
  if (options.include_usage && !usage_seen) fault('no usage chunk');
  return faults;
}
