// Texts as models write them, cut as their tokenizers cut them: kinds of text whose tokens have from one to six bytes.
import { decode, encode } from 'gpt-tokenizer/encoding/o200k_base';

const digits = Array.from({ length: 40 }, (_, n) => String((n * 7_919_317 + 104_729) % 1_000_003)).join(', ');

const prose = `The balance of an account is the sum of its entries, and nothing else. When a call begins, the most
that it can cost is set aside; when it ends, what it really cost is taken and the rest is given back. Neither step can be
repeated by accident, because each names the call that it belongs to. An auditor who has the entries needs no access to
the running system: every figure that was ever shown follows from them. What remains is to explain the exceptions, of
which there are few, and to show that none of them favours the house over the customer.`;

const story = `"You are late," said the old woman, and went on peeling potatoes. Mara put down the lantern. Outside, the
wind had found the loose shutter again; it knocked, waited, knocked. "The ferry didn't come," she said. "It hasn't come
since Tuesday." The knife stopped. For a while there was only the shutter, and somewhere far below, the sea, which
sounded tonight like a great many people whispering at once. "Then he walked," said the old woman.`;

const code = `export function settle(run: Run, due: Due): Promise<End> {
  const { ledger, record } = run.call;
  if (due.cost_micro_usd > run.hold.amount_micro_usd) {
    throw new RangeError(\`cost \${due.cost_micro_usd} above the hold\`);
  }
  for (let i = 0; i < due.lines.length; i++) {
    const line = due.lines[i]!;
    record.lines.push({ kind: line.kind, units: line.units ?? 0, micro_usd: line.micro_usd | 0 });
  }
  return ledger.settle({ ...run.subject, request_id: record.request_id });
}`;

/** Texts by their kind; of `short` ones several, as a model would answer them. */
export const texts = {
  digits: [digits],
  prose: [prose.replaceAll('\n', ' ')],
  story: [story.replaceAll('\n', ' ')],
  code: [code],
  short: ['Yes, it does.', 'The capital of France is Paris.', '42', 'No: the file was deleted on Monday.'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type TextKind = keyof typeof texts;
export const textKinds = Object.keys(texts) as TextKind[];

/** The tokens of `text`, each as the text that it stands for. */
export function tokensOf(text: string): string[] {
  return encode(text).map((token) => decode([token]));
}
