// Writes canonical events as a stream of text completions (docs/streams.md#completions): texts as they come, finish
// chunks held back until the end, usage in a chunk of its own if requested, `svc` on the last chunk before the end
// mark.

import { svcText } from '../../../caller/svc.ts';
import type { StreamWriter } from '../../../canonical/contract.ts';
import type {
  CanonicalEvent,
  Logprob,
  Part,
  ReplyEnd,
  ReplyMeta,
  Stop,
  StreamFault,
  Warning,
} from '../../../canonical/types.ts';
import { stopWarning } from '../../openai-chat/caller/pieces.ts';
import { usageText } from '../../openai-chat/caller/usage.ts';
import { DONE, failText, KEEP_ALIVE } from '../../openai-chat/caller/writer.ts';
import { finishText, Losses, logprobsText } from './text.ts';

interface Choice {
  readonly index: number;
  /** The part under way, where its text is shown. */
  part: Part | null;
  stop: Stop | null;
  /** UTF-16 units written, from which offsets of tokens count. */
  length: number;
}

export class CompletionsWriter implements StreamWriter {
  readonly #meta: ReplyMeta;
  readonly #head: string;
  /** What closes a chunk behind its choices. */
  readonly #tail: string;
  readonly #choices = new Map<number, Choice>();
  readonly #losses = new Losses();

  constructor(meta: ReplyMeta) {
    this.#meta = meta;
    const id = JSON.stringify(meta.request_id);
    const model = JSON.stringify(meta.model);
    this.#head = `data: {"id":${id},"object":"text_completion","created":${meta.created},"model":${model},"choices":[`;
    this.#tail = meta.include_usage ? '],"usage":null}\n\n' : ']}\n\n';
  }

  write(event: CanonicalEvent): string {
    switch (event.type) {
      case 'part_start': {
        const choice = this.#choice(event.candidate);
        const { content } = event;
        choice.part = this.#losses.shows(content, this.#meta) ? content : null;
        return choice.part !== null && 'text' in content ? this.#text(choice, content.text) : '';
      }
      case 'part_delta': {
        const choice = this.#choices.get(event.candidate);
        if (choice === undefined || choice.part === null) return '';
        if (event.citation !== undefined) this.#losses.add('citation_dropped');
        return this.#text(choice, event.text ?? '', event.logprobs);
      }
      case 'part_stop':
        this.#choice(event.candidate).part = null;
        return '';
      case 'stop':
        this.#choice(event.candidate).stop = event.stop;
        return '';
      default:
        return '';
    }
  }

  end(end: ReplyEnd): string {
    if (this.#choices.size === 0) this.#choice(0);
    const warnings: Warning[] = this.#losses.warnings();
    const finishes: string[] = [];
    for (const choice of this.#choices.values()) {
      const stop = end.stop ?? choice.stop;
      const warning = stopWarning(stop);
      if (warning !== null) warnings.push(warning);
      finishes.push(
        `${this.#head}{"index":${choice.index},"text":"","logprobs":null,"finish_reason":"${finishText(stop)}"}`,
      );
    }
    const last = `,"svc":${svcText(this.#meta, end, warnings)}}\n\n`;
    if (this.#meta.include_usage) {
      const held = finishes.map((finish) => finish + this.#tail).join('');
      return `${held}${this.#head}],"usage":${usageText(end.usage)}${last}${DONE}`;
    }
    const before = finishes.slice(0, -1).map((finish) => finish + this.#tail);
    return `${before.join('')}${finishes.at(-1)}]${last}${DONE}`;
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    return failText(this.#meta, fault, end);
  }

  keepAlive(): string {
    return KEEP_ALIVE;
  }

  #choice(index: number): Choice {
    let choice = this.#choices.get(index);
    if (choice === undefined) {
      choice = { index, part: null, stop: null, length: 0 };
      this.#choices.set(index, choice);
    }
    return choice;
  }

  #text(choice: Choice, text: string, logprobs?: readonly Logprob[]): string {
    if (text === '' && logprobs === undefined) return '';
    const known = logprobs === undefined ? 'null' : logprobsText(logprobs, choice.length);
    choice.length += text.length;
    const said = `{"index":${choice.index},"text":${JSON.stringify(text)}`;
    return `${this.#head}${said},"logprobs":${known},"finish_reason":null}${this.#tail}`;
  }
}
