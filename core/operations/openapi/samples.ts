// Samples of calls for the reference: with curl, and with the clients that people have where those know the route. They
// run as pasted, with `SVC_API_KEY` set (test/registry/samples.test.ts).
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
  '/v1/messages/count_tokens': {
    sdk: 'anthropic',
    method: 'messages.count_tokens',
    python: 'input_tokens',
    typescript: 'input_tokens',
  },
};

/** How the method of a client is called in TypeScript. */
function camel(method: string): string {
  return method.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `text` as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function curl(url: string, request: object): Json {
  const source =
    `curl ${url} \\\n  -H "authorization: Bearer $SVC_API_KEY" \\\n  -H 'content-type: application/json' \\\n` +
    `  -d ${quoted(JSON.stringify(request, null, 2))}\n`;
  return { lang: 'shell', label: 'curl', source };
}

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

/** The samples of `path` for `request`. */
export function samplesOf(
  path: string,
  request: Readonly<Record<string, unknown>>,
  base_url: string,
): Json[] {
  const call = calls[path];
  const shell = curl(`${base_url}${path}`, request);
  if (call === undefined) return [shell];
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
    `const answer = await client.${camel(call.method)}(${JSON.stringify(request, null, 2)});\n` +
    `console.log(answer.${call.typescript});\n`;
  return [
    shell,
    { lang: 'python', label: `Python, ${call.sdk}`, source: python },
    { lang: 'typescript', label: `TypeScript, ${call.sdk}`, source: typescript },
  ];
}
