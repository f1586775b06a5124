// A real Prometheus reads a gateway while a provider fails: every rule can be evaluated, the alert is on its way, and every
// panel of the dashboards can be drawn.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { resolveTool } from '@svc/cli/tools/tools.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { dashboards } from '../../../charts/dashboards.ts';
import { readText } from '../../../charts/render.ts';
import { atFileEnd } from '../../support/ends.ts';
import { answering, inOrder, refusing } from '../endpoints.ts';
import { bodyOf, eventually, openWorld, send, type World } from '../world.ts';

let world: World;
let url: string;

beforeAll(async () => {
  const [metrics_port, port, { path }] = await Promise.all([
    freePort(),
    freePort(),
    resolveTool('prometheus'),
  ]);
  world = await openWorld({
    gateway: 'here',
    models: { 'script-pair': 600 },
    env: { SVC_METRICS_PORT: String(metrics_port) },
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  writeFileSync(join(folder, 'alerts.yaml'), readText('svc', 'files', 'alerts.yaml'));
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: ['alerts.yaml'],
    scrape_configs: [{ job_name: 'svc', static_configs: [{ targets: [`127.0.0.1:${metrics_port}`] }] }],
  };
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
  url = `http://127.0.0.1:${port}`;
  const child = spawn(
    path,
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise((done) => child.once('exit', done));
  atFileEnd(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
});
afterAll(() => world.close());

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly {
        readonly name: string;
        readonly health: string;
        readonly state?: string;
        readonly lastError?: string;
      }[];
    }[];
    readonly result: readonly { readonly metric: Record<string, string>; readonly value: [number, string] }[];
  };
}

/** What Prometheus answers; null while it does not answer yet. */
async function ask(path: string, query: Record<string, string> = {}): Promise<Answer | null> {
  try {
    return (await (await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`)).json()) as Answer;
  } catch {
    return null;
  }
}

test('a provider that fails is an alert on its way; all rules and panels can be evaluated', async () => {
  const org = await world.org();
  const models = [world.model('script-pair'), world.model('script-pair')];
  const failOver = async () => {
    for (const { id, upstream } of models) {
      world.script.on(upstream, 'a', refusing(500)());
      world.script.on(upstream, 'b', answering(false)(upstream));
      const body = bodyOf(id, 'Hi', inOrder('script-a', 'script-b'));
      expect((await send(world, 'chat', org.live_key, body).reply).status).toBe(200);
    }
  };
  // A rate is seen of what grows after it was first read: the other four failures until a circuit opens.
  await failOver();
  await eventually('the first failures are read', async () => {
    const found = await ask('query', { query: 'svc_attempts_total{provider="script-a"}' });
    return found?.data.result.length === models.length;
  });
  for (let n = 0; n < 4; n++) await failOver();
  const rule = await eventually('the alert is pending', async () => {
    const rules = (await ask('rules'))?.data.groups.flatMap((group) => group.rules) ?? [];
    return rules.find(({ name, state }) => name === 'SvcProviderFails' && state === 'pending') ?? null;
  });
  expect(rule.health).toBe('ok');
  const failing = await ask('query', { query: 'svc:attempt_errors:ratio_rate5m' });
  expect(failing?.data.result.map(({ metric }) => metric['provider'])).toContain('script-a');
  const rules = (await ask('rules'))?.data.groups.flatMap((group) => group.rules) ?? [];
  expect(rules.length).toBeGreaterThan(25);
  expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
  for (const { title, panels } of dashboards) {
    for (const panel of panels) {
      for (const expr of Object.values(panel.series)) {
        const answer = await ask('query', { query: expr.replaceAll('$__rate_interval', '1m') });
        expect([title, panel.title, answer?.status, answer?.error]).toEqual([
          title,
          panel.title,
          'success',
          undefined,
        ]);
      }
    }
  }
  const scraped = await ask('query', { query: 'scrape_samples_scraped > 100 and on (instance) up == 1' });
  expect(scraped?.data.result).toHaveLength(1);
}, 90_000);
