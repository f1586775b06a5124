// Subscriptions: a POST whose answer is a stream of server-sent events, read with fetch, because an EventSource
// can send neither the organisation nor the guard against forged requests.

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

/** Cuts a stream of text into server-sent events, whatever the pieces in which it arrives. Pure but for its buffer. */
export function eventReader(): (piece: string) => SseEvent[] {
  let rest = '';
  return (piece) => {
    const blocks = `${rest}${piece}`.replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    return blocks.map(eventOf).filter((event) => event !== null);
  };
}

function eventOf(block: string): SseEvent | null {
  let event = 'message';
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field, value = ''] = /^([^:]+): ?(.*)$/.exec(line) ?? [];
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
  return event === 'message' && data.length === 0 ? null : { event, data: data.join('\n') };
}

/** Reads `response` to its end and hands on each `next`; resolves at `complete` or when the stream ends. */
export async function readEvents(response: Response, next: (data: string) => void): Promise<void> {
  if (response.body === null) return;
  const read = eventReader();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const { event, data } of read(value)) {
      if (event === 'complete') return void reader.cancel();
      if (event === 'next') next(data);
    }
  }
}

/**
 * Of what was read and what a stream has said, what holds: the stream knows more, until it was read that the matter is over,
 * because nobody listens from then on.
 */
export function latestOf<R extends object | null | undefined>(
  read: R,
  heard: NonNullable<R> | null,
  isOver: (state: NonNullable<R>) => boolean,
): R {
  return heard === null || (read && isOver(read)) ? read : heard;
}
