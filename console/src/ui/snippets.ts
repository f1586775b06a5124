// What to paste for a first call, for each client that people have. The key is read from the environment, so that
// it stays out of the code.

interface Snippet {
  readonly name: string;
  /** Shown above the code where it is not obvious how to run it. */
  readonly note?: string;
  readonly language: 'python' | 'js' | 'shell';
  readonly code: string;
}

/** `base_url` without `/v1`; `model` is one that the key may call. */
export function snippets({ base_url, model }: { base_url: string; model: string }): readonly Snippet[] {
  return [
    {
      name: 'OpenAI',
      language: 'python',
      code: `import os
from openai import OpenAI

client = OpenAI(
    base_url="${base_url}/v1",
    api_key=os.environ["GATEWAY_API_KEY"])
reply = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}])
print(reply.choices[0].message.content)`,
    },
    {
      name: 'Anthropic',
      language: 'python',
      code: `import os
from anthropic import Anthropic

client = Anthropic(
    base_url="${base_url}",
    api_key=os.environ["GATEWAY_API_KEY"])
reply = client.messages.create(
    model="${model}", max_tokens=64,
    messages=[{"role": "user", "content": "Hello"}])
print(reply.content[0].text)`,
    },
    {
      name: 'Claude Code',
      language: 'shell',
      code: `export ANTHROPIC_BASE_URL=${base_url}
export ANTHROPIC_AUTH_TOKEN=$GATEWAY_API_KEY
export ANTHROPIC_MODEL=${model}
export ANTHROPIC_SMALL_FAST_MODEL=${model}
claude`,
    },
    {
      name: 'Vercel AI SDK',
      language: 'js',
      code: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText } from 'ai';

const svc = createOpenAICompatible({
  name: 'svc',
  baseURL: '${base_url}/v1',
  apiKey: process.env.GATEWAY_API_KEY,
});
const { text } = await generateText({ model: svc('${model}'), prompt: 'Hello' });
console.log(text);`,
    },
    {
      name: 'curl',
      language: 'shell',
      code: `curl ${base_url}/v1/chat/completions \\
  -H "authorization: Bearer $GATEWAY_API_KEY" \\
  -H 'content-type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
    },
  ];
}

export type Piece = readonly [kind: 'plain' | 'word' | 'text' | 'note', text: string];

const words = /^(?:import|from|const|await|export|as|print|curl|claude)$/;
const token = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(#[^\n]*)|([A-Za-z_]+)|([^"'#A-Za-z_]+)/g;

/** `code` cut into pieces to colour; joined they are `code` again. */
export function colour(code: string): Piece[] {
  return [...code.matchAll(token)].map(([whole, text, note, name]) => {
    if (text !== undefined) return ['text', whole];
    if (note !== undefined) return ['note', whole];
    return [name !== undefined && words.test(name) ? 'word' : 'plain', whole];
  });
}
