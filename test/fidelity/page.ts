// docs/compatibility.md, made of the same data that the tests of this folder run.
import { contents, stops } from './answers.ts';
import { meanings, ofAnswers } from './codes.ts';
import { groups } from './features/index.ts';
import { type Cell, DIALECTS, type Dialect, FAMILIES, type Feature, type GenerationFamily } from './types.ts';

export const PAGE = new URL('../../docs/compatibility.md', import.meta.url);

type Row = readonly string[];

function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const linked = (code: string) => `[\`${code}\`](#${code})`;

/** `class:code` as the page shows it. */
function lossText(loss: string): string {
  const [kind, code = ''] = loss.split(':');
  return `${kind === 'content' ? '✗' : '≈'} ${linked(code)}`;
}

function cellText(cell: Cell): string {
  if (cell.lost !== undefined && cell.lost.length > 0) return cell.lost.map(lossText).join(', ');
  return cell.as === undefined ? '✓' : `✓ ${cell.as}`;
}

function outcomeText(feature: Feature, family: GenerationFamily): string {
  const outcome = feature.at[family];
  const here = cellText(outcome);
  if (outcome.listed === undefined) return here;
  const there = cellText(outcome.listed);
  if (there === here) return here;
  return there === '✓' ? `${here}; ✓ listed` : `${here}; listed: ${there}`;
}

const DIALECT_HEADS: Readonly<Record<Dialect, string>> = {
  chat: 'chat',
  responses: 'responses',
  messages: 'messages',
  completions: 'completions',
  native: 'native',
};

function groupText({ title, features }: (typeof groups)[number]): string {
  const said = features.map((feature) => [
    feature.name,
    ...DIALECTS.map((dialect) => feature.says[dialect]?.field ?? '–'),
  ]);
  const sent = features.map((feature) => [
    feature.name,
    ...FAMILIES.map((family) => outcomeText(feature, family)),
  ]);
  const notes = features
    .filter(({ note }) => note !== undefined)
    .map(({ name, note }) => `- *${name}*: ${note}`);
  const parts = [
    `## ${title}`,
    'How a request says it:',
    table(['', ...DIALECTS.map((dialect) => DIALECT_HEADS[dialect])], said),
    'What the provider gets:',
    table(['', ...FAMILIES.map((family) => `\`${family}\``)], sent),
  ];
  if (notes.length > 0) parts.push(notes.join('\n'));
  return parts.join('\n\n');
}

const INTRO = `# Compatibility
Every API of this gateway reaches every kind of provider. This page lists what of a request reaches the provider and what of
its answer comes back. \`node test/fidelity/write.ts\` writes it from the data of the tests in \`test/fidelity\`, which test every
cell.

| dialect | route |
| --- | --- |
| chat | \`POST /v1/chat/completions\` |
| responses | \`POST /v1/responses\` |
| messages | \`POST /v1/messages\` |
| completions | \`POST /v1/completions\` |
| native | \`POST /v1/svc/generate\` |

The family of a provider is the API that it speaks ([providers](providers.md)): \`openai_chat\` (OpenAI and compatible
servers), \`openai_responses\`, \`anthropic_messages\`, \`gemini\`, \`bedrock_converse\`. The sandbox takes everything as it is.

**Where both speak one API** – chat at \`openai_chat\`, responses at \`openai_responses\`, messages at \`anthropic_messages\` –
the provider gets your own bytes and you get the provider's, with unknown fields and every digit of long numbers. Only the
model, \`svc\`, the output cap, and ids of users and caches are replaced; such ids are sent as HMACs. The tables below are about
all other pairs. Completions are passed on unchanged where the endpoint has a route for them; elsewhere the prompt becomes a
user message, and the answer has the warning ${linked('completion_as_chat')}.

| sign | meaning |
| --- | --- |
| ✓ | the provider gets it with the same meaning; a note says in which form |
| ≈ \`code\` | the call is made without it, and a warning says so |
| ✗ \`code\` | the endpoint is not used; if no other is left, the call is refused |
| listed | on endpoints whose catalog entry lists it |
| – | the dialect has no field for it |

You choose what happens with \`svc.compat\` (native: \`compat\`; header \`x-svc-compat\`):

| class of loss | \`strict\` | \`warn\` (default) | \`drop\` |
| --- | --- | --- | --- |
| hint: the answer cannot change in meaning | refused | dropped, warning | dropped |
| behaviour: the answer may differ in quality | refused | dropped, warning | dropped |
| content: words, tools or the form of the answer would vanish | refused | endpoint left out | dropped, warning |

A refusal is 400 \`unsupported_parameter\` with the field in \`param\`; an endpoint that loses nothing is tried before a call is
refused. Warnings are \`{code, param, message}\` in \`svc.warnings\` (native: \`warnings\`): the first twenty of them, then
\`{code: "more", count}\`. The header \`x-svc-warnings\` lists the codes.`;

function answersText(): string {
  const shown = contents.map((content) => [
    content.name,
    ...FAMILIES.map((family) => (content.stops[family] === undefined ? '–' : '✓')),
    ...DIALECTS.map((dialect) => content.shown[dialect] ?? '–'),
  ]);
  const words = (list: readonly string[] | undefined) =>
    list === undefined ? '–' : list.map((word) => `\`${word}\``).join(', ');
  const reported = stops.map(({ reason, from }) => [
    `\`${reason}\``,
    ...FAMILIES.map((family) => words(from[family])),
  ]);
  const heard = stops.map(({ reason, to, warns }) => [
    `\`${reason}\``,
    ...DIALECTS.map((dialect) => {
      const warned = warns?.[dialect];
      return `\`${to[dialect]}\`${warned === undefined ? '' : `, warning ${linked(warned)}`}`;
    }),
  ]);
  const families = FAMILIES.map((family) => `\`${family}\``);
  return [
    '## Answers',
    'A stream and a whole answer have the same content. The first columns say which families give it, the others where each dialect shows it:',
    table(['', ...families, ...DIALECTS], shown),
    'Why an answer ended, as providers report it:',
    table(['', ...families], reported),
    '… and as callers get it:',
    table(['', ...DIALECTS], heard),
    `An answer that ends with tool calls has the dialect's own stop reason for that. A refusal of an OpenAI model is \`stop\` with
\`refusal\` in chat, and stop reason \`refusal\` in messages. The messages dialect names the stop sequence; if the provider did not
report it, it is named only where the request had a single one.`,
    '## Usage',
    table(
      ['', 'chat, completions', 'responses', 'messages', 'native'],
      [
        ['prompt without cache', '–', '–', '`input_tokens`', '`input_tokens`'],
        ['whole prompt', '`prompt_tokens`', '`input_tokens`', '–', '–'],
        [
          'read from a cache',
          '`prompt_tokens_details.cached_tokens`',
          '`input_tokens_details.cached_tokens`',
          '`cache_read_input_tokens`',
          '`cache_read_tokens`',
        ],
        [
          'written to a cache',
          '`prompt_tokens_details.cache_write_tokens`',
          '`input_tokens_details.cache_write_tokens`',
          '`cache_creation_input_tokens`',
          '`cache_write_tokens`',
        ],
        ['output', '`completion_tokens`', '`output_tokens`', '`output_tokens`', '`output_tokens`'],
        [
          'of it reasoning',
          '`completion_tokens_details.reasoning_tokens`',
          '`output_tokens_details.reasoning_tokens`',
          '`output_tokens_details.thinking_tokens`',
          '`reasoning_tokens`',
        ],
      ],
    ),
    `Gemini reports no cache writes and Bedrock no reasoning tokens: both are 0. How long a cache write lives
(\`cache_creation\`) is in whole answers of the messages dialect only; the last event of its streams has no such key.`,
  ].join('\n\n');
}

const TURNS = `## Reasoning across turns
If you send a turn back as you got it, the provider gets what it signed back byte for byte:

| dialect | where the signature travels |
| --- | --- |
| chat | \`reasoning_details[]\`; of a call \`tool_calls[].extra_content.google.thought_signature\` |
| responses | \`encrypted_content\` of a reasoning item, with \`include: ["reasoning.encrypted_content"]\` |
| messages | \`signature\` of a \`thinking\` block, \`data\` of \`redacted_thinking\`; of a call an empty \`thinking\` block before it |
| native | \`signature\`, \`data\` of the part |

State of a family other than the dialect's own is wrapped (\`svc1.…\`); it is opaque, so send it back unchanged. A signature is sent
only to endpoints of the format that made it: Anthropic models share one format on their own API and on Bedrock, OpenAI responses
and Gemini have one each. Elsewhere it is left out with the warning ${linked('reasoning_signature_dropped')}. Chat at \`openai_chat\` sends your
own bytes, including reasoning of other providers in your history; servers known to refuse that (flag \`no_reasoning_in\`) get none.`;

function lossesText(): string {
  const rows = Object.entries(meanings).map(([code, { class: kind, text }]) => [
    `<a id="${code}"></a>\`${code}\``,
    kind,
    text,
  ]);
  const answers = Object.entries(ofAnswers).map(([code, text]) => [
    meanings[code] === undefined ? `<a id="${code}"></a>\`${code}\`` : `\`${code}\``,
    'answer',
    text,
  ]);
  return ['## Losses', table(['code', 'class', 'meaning'], [...rows, ...answers])].join('\n\n');
}

/** The page as it is to be committed. */
export function pageText(): string {
  return `${[INTRO, ...groups.map(groupText), TURNS, answersText(), lossesText()].join('\n\n')}\n`;
}
