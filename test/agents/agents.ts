// Coding agents as their users install and start them, with base URL and key alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ensurePythonClients,
  installNewest,
  type PythonSet,
  pinnedVersion,
  toolsDirectory,
} from '@svc/cli/tools/python.ts';

/** What an agent is told of the gateway, and the folders that are its own. */
export interface Place {
  readonly base_url: string;
  readonly key: string;
  readonly model: string;
  readonly home: string;
  readonly cwd: string;
}

interface Start {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files by their path, which are there before it starts. */
  readonly files?: Readonly<Record<string, string>>;
  /** Arguments of a run before, which signs in. */
  readonly before?: readonly string[];
}

export interface Agent {
  readonly name: string;
  /** An npm package, or a set of Python packages whose interpreter starts it. */
  readonly package: string | { readonly python: PythonSet };
  /** The version that was last tried; `NEWEST=1` takes the newest. */
  readonly version: string;
  readonly bin: string;
  /** What it is asked instead of the loop's prompt, where it has no shell. */
  readonly prompt?: string;
  start(at: Place, prompt: string): Start;
}

const codexConfig = ({ base_url, model }: Place) => `model = "${model}"
model_provider = "svc"
[model_providers.svc]
name = "svc"
base_url = "${base_url}/v1"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"
`;

const opencodeConfig = ({ base_url, key, model }: Place) =>
  JSON.stringify({
    autoupdate: false,
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${base_url}/v1`, apiKey: key },
        models: { [model]: { name: model, tool_call: true, reasoning: true } },
      },
    },
  });

/** Without questions, without Git, and without looking for news; the format of answers that any model can keep. */
const AIDER_FLAGS = [
  ...['--yes-always', '--no-git', '--no-check-update', '--analytics-disable', '--no-show-model-warnings'],
  ...['--edit-format', 'whole'],
];

/** What a model answers an agent that reads files out of its text. */
const FILES = ['one', 'two', 'three'].map((word) => `${word}.txt\\n\`\`\`\\n${word}\\n\`\`\`\\n`).join('');

export const agents: readonly Agent[] = [
  {
    ...{ name: 'Claude Code', package: '@anthropic-ai/claude-code', version: '2.1.330', bin: 'claude' },
    start: ({ base_url, key, model }, prompt) => ({
      args: ['-p', prompt, '--allowedTools', 'Bash'],
      env: {
        ...{ ANTHROPIC_BASE_URL: base_url, ANTHROPIC_AUTH_TOKEN: key },
        ...{ ANTHROPIC_MODEL: model, ANTHROPIC_SMALL_FAST_MODEL: model },
        ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
      },
    }),
  },
  {
    ...{ name: 'Codex', package: '@openai/codex', version: '0.169.0', bin: 'codex' },
    start: (at, prompt) => ({
      args: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
      env: { GATEWAY_API_KEY: at.key, CODEX_HOME: join(at.home, '.codex') },
      files: { [join(at.home, '.codex/config.toml')]: codexConfig(at) },
    }),
  },
  {
    ...{ name: 'opencode', package: 'opencode-ai', version: '1.18.33', bin: 'opencode' },
    start: (at, prompt) => ({
      args: ['run', '--auto', '-m', `svc/${at.model}`, prompt],
      files: { [join(at.cwd, 'opencode.json')]: opencodeConfig(at) },
    }),
  },
  {
    ...{ name: 'Qwen Code', package: '@qwen-code/qwen-code', version: '0.15.10', bin: 'qwen' },
    start: ({ base_url, key, model }, prompt) => ({
      args: ['--yolo', '--auth-type', 'openai', '-p', prompt],
      env: { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${base_url}/v1`, OPENAI_MODEL: model },
    }),
  },
  {
    ...{ name: 'Cline', package: 'cline', version: '3.0.65', bin: 'cline' },
    start: ({ base_url, key, model, home }, prompt) => {
      const data = ['--data-dir', join(home, 'cline')];
      return {
        before: ['auth', ...data, '-p', 'openai', '-k', key, '-m', model, '-b', `${base_url}/v1`],
        args: [...data, '--auto-approve', 'true', '-P', 'openai', '-m', model, prompt],
      };
    },
  },
  {
    ...{
      name: 'aider',
      package: { python: 'aider' },
      version: pinnedVersion('aider', 'aider-chat'),
      bin: 'aider',
    },
    prompt: `sim: text=${FILES}; Write the three files.`,
    start: ({ base_url, key, model }, prompt) => ({
      args: ['-m', 'aider', '--model', `openai/${model}`, '--message', prompt, ...AIDER_FLAGS],
      env: { OPENAI_API_KEY: key, OPENAI_API_BASE: `${base_url}/v1` },
    }),
  },
];

async function ended(command: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(command, args, { cwd, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
}

/** Path of the program of `agent`, installed once for each version in the folder of tools. */
export async function installed(agent: Agent, version: string): Promise<string> {
  if (typeof agent.package !== 'string') {
    const say = (text: string) => void process.stdout.write(`${text}\n`);
    return (version === 'latest' ? installNewest : ensurePythonClients)(say, agent.package.python);
  }
  const folder = join(toolsDirectory(), 'agents', `${agent.bin}-${version}`);
  const bin = join(folder, 'node_modules/.bin', agent.bin);
  if (version !== 'latest' && existsSync(bin)) return bin;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  writeFileSync(join(fresh, 'package.json'), '{"private":true}');
  await ended('npm', ['install', '--no-audit', '--no-fund', `${agent.package}@${version}`], fresh);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return bin;
}

export interface Run {
  readonly ended: Promise<number | null>;
  /** As Ctrl-C does. */
  interrupt(): void;
  output(): string;
}

/** Starts the program `bin` of `agent` with `prompt`. */
export async function run(agent: Agent, bin: string, at: Place, prompt: string): Promise<Run> {
  const { args, env = {}, files = {}, before } = agent.start(at, prompt);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  }
  const node = join(process.execPath, '..');
  const own = {
    PATH: `${node}:${process.env['PATH']}`,
    HOME: at.home,
    TERM: 'dumb',
    NO_PROXY: '127.0.0.1',
    ...env,
  };
  let output = '';
  const begin = (words: readonly string[]) => {
    // In a group of its own: a terminal's Ctrl-C reaches the programs too that an agent starts itself by.
    const child = spawn(bin, words, {
      cwd: at.cwd,
      env: own,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => {
        output = (output + piece).slice(-20_000);
      });
    }
    return child;
  };
  if (before !== undefined) await once(begin(before), 'exit');
  const child = begin(args);
  return {
    ended: once(child, 'exit').then(([code]) => code as number | null),
    interrupt() {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGINT');
      } catch {
        // All of them have ended.
      }
    },
    output: () => output,
  };
}
