// The newest Python clients and LangChain for Python before the sandbox and every family of provider. One program per
// client tries them all: a Python takes longer to start than its calls.
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { families, useFamilies } from './families.ts';
import { runPython } from './python.ts';

const gateway = useFamilies();
let clients = '';
let langchain = '';
beforeAll(async () => {
  clients = await ensurePythonClients(() => {});
  langchain = await ensurePythonClients(() => {}, 'langchain');
}, 300_000);

function drive(python: string, script: string): Promise<Record<string, unknown>> {
  const served = Object.fromEntries(families.map((family) => [family, gateway().served(family)]));
  const asked = { families: served, embed: 'fam/openai-embed' };
  return runPython(python, script, [JSON.stringify(asked)]);
}

const everyFamily = (said: unknown) => Object.fromEntries(families.map((family) => [family, said]));

describe('for Python', { timeout: 120_000 }, () => {
  test('the OpenAI client streams, parses, calls tools and gets vectors, sync and async', async () => {
    expect(await drive(clients, 'openai_families.py')).toEqual({
      sync: everyFamily({
        ...{ stream: true, stream_cost: true, parsed: true, call: true, answered: true },
        ...{ response: true, counted: true, response_parsed: true },
      }),
      async: everyFamily({ whole: true, response: true, stream: true }),
      vectors: { count: 2, same: true, tokens: true },
    });
  });

  test('the Anthropic client streams, parses and runs tools to the end, sync and async', async () => {
    expect(await drive(clients, 'anthropic_families.py')).toEqual({
      sync: everyFamily({
        ...{
          stream: true,
          usage: true,
          counted: true,
          parsed: true,
          runner: true,
          streaming_runner: true,
          ran: 2,
        },
      }),
      async: everyFamily({ stream: true, runner: true }),
    });
  });

  test('LangChain calls, streams and structures over each dialect', async () => {
    const dialect = { call: true, stream: true, structured: true };
    expect(await drive(langchain, 'langchain_families.py')).toEqual({
      said: everyFamily({ chat: dialect, responses: dialect, messages: dialect }),
      async: families.flatMap(() => [true, true, true]),
      vectors: 2,
    });
  });
});
