// The raw lane of a stream of text completions. Chunks of several choices are split, finish chunks are held to the end,
// everything else keeps its bytes; the stream itself is that of chats (`openai-chat/raw/chunk-relay.ts`).
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { Relay, Target } from '../../../canonical/contract.ts';
import type { CanonicalRequest, ReplyMeta, Stop } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { changeMembers, type Edit, memberOf, scanObject, type TopLevel } from '../../../wire/scan.ts';
import type { Chunk } from '../../openai-chat/raw/chunk.ts';
import {
  type ChunkForm,
  ChunkRelay,
  type HeldChoice,
  type Learnt,
} from '../../openai-chat/raw/chunk-relay.ts';
import type { Output } from '../../openai-chat/raw/template.ts';
import { finishFault, stopOf } from '../../openai-chat/words/stop.ts';
import { finishText } from '../caller/text.ts';
import { choicesOf, echoedBytes, finishWord, PLAIN, textOf } from './text.ts';

/** Members of a choice that a finish chunk of its own repeats; others went out with the text. */
const OF_FINISH: ReadonlySet<string> = new Set(['index', 'text', 'logprobs', 'finish_reason', 'stop_reason']);

interface Choice extends HeldChoice {
  /** Bytes still to come that repeat the prompt. */
  echoed: number;
}

type TextRelay = ChunkRelay<Choice>;

class TextChunks implements ChunkForm<Choice> {
  readonly object = 'text_completion';
  /** Choices of a call, and one for a change of what is around them. */
  readonly templates_max = 9;
  readonly searches = 0;
  readonly expected: number;
  /** Without its prompt. */
  readonly #asked: Pick<CanonicalRequest, 'generation' | 'completion'>;

  constructor({ generation, completion }: CanonicalRequest) {
    this.#asked = completion === undefined ? { generation } : { generation, completion };
    this.expected = choicesOf(this.#asked);
  }

  begin(index: number): Choice {
    return { index, echoed: echoedBytes(this.#asked, index), held: null };
  }

  isPlain(): boolean {
    return true;
  }

  copied(relay: TextRelay, { choice }: Learnt<Choice>, _b: Buffer, bytes: number): boolean {
    this.#count(relay, choice, bytes);
    return true;
  }

  shaped(value: JsonObject, data: Buffer): readonly [JsonObject, Buffer] {
    return [value, data];
  }

  choices(relay: TextRelay, chunk: Chunk, clean: boolean, out: Output): void {
    const choices = chunk.value['choices'] as unknown[];
    const alone = clean && choices.length === 1;
    let text = '';
    for (let at = 0; at < choices.length && relay.state.fault === null; at++) {
      const choice = choices[at];
      if (!isObject(choice)) throw new ProtocolFault('a choice is not an object');
      text += this.#choice(relay, chunk, at, choice, alone);
    }
    out.text(text);
  }

  /** `alone`: the chunk holds this choice alone, and nothing but the upstream's own members. */
  #choice(relay: TextRelay, chunk: Chunk, at: number, value: JsonObject, alone: boolean): string {
    const index = typeof value['index'] === 'number' ? value['index'] : at;
    const { choice } = relay.choice(index);
    if (choice.held !== null) return '';
    const text = textOf(value);
    const raw = value['finish_reason'];
    const finish = typeof raw === 'string' && raw !== '' ? raw : null;
    const fault = finish === null ? null : finishFault(finish);
    if (fault !== null) {
      relay.fault(fault);
      return '';
    }
    this.#count(relay, choice, Buffer.byteLength(text));
    const outer = scanObject(chunk.bytes, chunk.choices[at]!.from) as TopLevel;
    const completed = missing(value, index);
    const others = othersOf(chunk, at);
    const line = (changes: Record<string, string | null>): string =>
      chunk.line([...changeMembers(outer, { ...completed, ...changes }), ...others]);
    if (finish === null) {
      const changes = raw === null ? {} : { finish_reason: 'null' };
      const member = memberOf(outer, 'text');
      if (alone && text !== '' && (value['logprobs'] ?? null) === null && member !== undefined) {
        const hole = { from: member.from + 1, to: member.to - 1 };
        const edits = changeMembers(outer, { ...completed, ...changes });
        relay.learn(chunk, hole, edits, { call: null, choice });
      }
      return line(changes);
    }
    const word = finishWord(finish);
    const said = word === finish ? {} : { finish_reason: JSON.stringify(word) };
    const payload = text !== '' || (value['logprobs'] ?? null) !== null;
    choice.held = line(payload ? { ...withoutPayload(outer), ...said } : said);
    relay.finished(stopOf(finish, PLAIN));
    return payload ? line({ finish_reason: 'null' }) : '';
  }

  #count({ state }: TextRelay, choice: Choice, bytes: number): void {
    if (bytes === 0) return;
    const echoed = Math.min(bytes, choice.echoed);
    choice.echoed -= echoed;
    state.semantic = true;
    state.output_bytes += bytes - echoed;
    if (bytes > echoed) state.content_events++;
  }

  /** Texts hold nothing back. */
  flush(): void {}

  /** The chunk that ends a choice is its first as well. */
  opening(): null {
    return null;
  }

  ending(index: number, stop: Stop | null): string {
    return `{"index":${index},"text":"","logprobs":null,"finish_reason":"${finishText(stop)}"}`;
  }
}

/** A relay of the caller's own wire for `request` at `target`. */
export function rawCompletionsRelay(meta: ReplyMeta, request: CanonicalRequest, target: Target): Relay {
  return new ChunkRelay(new TextChunks(request), meta, target);
}

/** Changes that give a choice what every one has to have. */
function missing(value: JsonObject, index: number): Record<string, string> {
  const changes: Record<string, string> = {};
  if (typeof value['index'] !== 'number') changes['index'] = String(index);
  if (typeof value['text'] !== 'string') changes['text'] = '""';
  if (!('logprobs' in value)) changes['logprobs'] = 'null';
  return changes;
}

/** Changes that leave a finish chunk of a choice whose text goes out before it. */
function withoutPayload(choice: TopLevel): Record<string, string | null> {
  const changes: Record<string, string | null> = { text: '""', logprobs: 'null' };
  for (const { name } of choice.members) if (!OF_FINISH.has(name)) changes[name] = null;
  return changes;
}

/** A chunk has one choice: the others of this one get their own. */
function othersOf({ choices, top }: Chunk, at: number): Edit[] {
  if (choices.length === 1) return [];
  const whole = memberOf(top, 'choices')!;
  const own = choices[at]!;
  return [
    { from: whole.from + 1, to: own.from, text: '' },
    { from: own.to, to: whole.to - 1, text: '' },
  ];
}
