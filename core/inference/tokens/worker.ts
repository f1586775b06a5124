// The thread that counts tokens. It stops when its time is over, which it checks between pieces.
import { parentPort } from 'node:worker_threads';
import { monotonicMs } from '../../kernel/index.ts';
import { piecesOf } from './cut.ts';

/** Bundled vocabularies whose count equals the provider's own. */
export type Tokenizer = 'o200k_base' | 'cl100k_base';

export interface Job {
  readonly id: number;
  readonly tokenizer: Tokenizer;
  readonly texts: readonly string[];
  /** Milliseconds after which counting stops. */
  readonly patience_ms: number;
}

/** `tokens` is null when there was not enough time or the tokenizer failed. */
export interface CountResult {
  readonly id: number;
  readonly tokens: number | null;
  readonly exact: boolean;
}

type Count = (text: string, options: object) => number;

/** Nothing in a caller's text is treated as a control token. */
const PLAIN = { allowedSpecial: new Set(), disallowedSpecial: new Set() };

async function counterOf(tokenizer: Tokenizer): Promise<Count> {
  const { countTokens } =
    tokenizer === 'o200k_base'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base');
  return countTokens as Count;
}

async function run({ id, tokenizer, texts, patience_ms }: Job): Promise<CountResult> {
  const count = await counterOf(tokenizer);
  const end_at = monotonicMs() + patience_ms;
  let tokens = 0;
  let exact = true;
  for (const text of texts) {
    for (const piece of piecesOf(text)) {
      if (monotonicMs() > end_at) return { id, tokens: null, exact: false };
      tokens += count(piece.text, PLAIN);
      if (piece.forced) exact = false;
    }
  }
  return { id, tokens, exact };
}

parentPort?.on('message', (job: Job) => {
  run(job).then(
    (outcome) => parentPort?.postMessage(outcome),
    () => parentPort?.postMessage({ id: job.id, tokens: null, exact: false } satisfies CountResult),
  );
});
