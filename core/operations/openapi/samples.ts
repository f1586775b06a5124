// Samples of calls with the clients that people have, for the reference. They run as pasted, with `SVC_API_KEY` set.
import type { Json } from './components.ts';

type Sdk = 'openai' | 'anthropic';

/** By path: the client, its method in either language, and how the text of the answer is reached. */
const calls: Readonly<Record<string, { sdk: Sdk; method: string; python: string; typescript: string }>> = {
  '/v1/chat/completions': {
    sdk: 'openai',
    method: 'chat.completions.create',
    python: 'choices[0].message.content',
    typescript: 'choices[0]?.message.content',
  },
  '/v1/responses': {
    sdk: 'openai',
    method: 'responses.create',
    python: 'output_text',
    typescript: 'output_text',
  },
  '/v1/completions': {
    sdk: 'openai',
    method: 'completions.create',
    python: 'choices[0].text',
    typescript: 'choices[0]?.text',
  },
  '/v1/embeddings': {
    sdk: 'openai',
    method: 'embeddings.create',
    python: 'data[0].embedding[:4]',
    typescript: 'data[0]?.embedding.slice(0, 4)',
  },
  '/v1/messages': { sdk: 'anthropic', method: 'messages.create', python: 'content', typescript: 'content' },
};

function inPython(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (Array.isArray(value)) return `[${value.map(inPython).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${inPython(member)}`,
  );
  return `{${members.join(', ')}}`;
}

/** The samples of `path` for `request`, empty for a route that no such client knows. */
export function samplesOf(
  path: string,
  request: Readonly<Record<string, unknown>>,
  base_url: string,
): Json[] {
  const call = calls[path];
  if (call === undefined) return [];
  const is_openai = call.sdk === 'openai';
  const client = is_openai ? 'OpenAI' : 'Anthropic';
  const url = is_openai ? `${base_url}/v1` : base_url;
  const members = Object.entries(request).map(([name, value]) => `    ${name}=${inPython(value)},\n`);
  const python =
    `import os\nfrom ${call.sdk} import ${client}\n\n` +
    `client = ${client}(base_url="${url}", api_key=os.environ["SVC_API_KEY"])\n` +
    `answer = client.${call.method}(\n${members.join('')})\nprint(answer.${call.python})\n`;
  const typescript =
    `import ${client} from '${is_openai ? 'openai' : '@anthropic-ai/sdk'}';\n\n` +
    `const client = new ${client}({ baseURL: '${url}', apiKey: process.env.SVC_API_KEY });\n` +
    `const answer = await client.${call.method}(${JSON.stringify(request, null, 2)});\n` +
    `console.log(answer.${call.typescript});\n`;
  return [
    { lang: 'python', label: `Python, ${call.sdk}`, source: python },
    { lang: 'typescript', label: `TypeScript, ${call.sdk}`, source: typescript },
  ];
}
