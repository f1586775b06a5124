// A worker and a Temporal that is reached as a cloud or a company has it: TLS, a certificate of the worker's own, an API
// key, versions of workers.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@svc/core/kernel/index.ts';
import { securityOf } from '@svc/workflows/security.ts';
import { expect, test } from 'vitest';
import { authority, client as ours } from '../sim/certificates.ts';
import { startTemporalFront } from '../sim/temporal-front.ts';
import { atFileEnd } from '../support/ends.ts';
import { sharedTemporal, startTemporal } from '../support/temporal.ts';
import { connect, startWorkflowWorld, until } from './world.ts';

const world = await startWorkflowWorld();
const dir = mkdtempSync(join(tmpdir(), 'svc-temporal-tls-'));
atFileEnd(async () => rmSync(dir, { recursive: true }));
const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};
const CA = { SVC_TEMPORAL_TLS: '1', SVC_TEMPORAL_TLS_CA_FILE: file('ca.pem', authority) };
const CERTIFICATE = {
  SVC_TEMPORAL_TLS_CERT_FILE: file('cert.pem', ours.cert),
  SVC_TEMPORAL_TLS_KEY_FILE: file('key.pem', ours.key),
};

/** Whether a worker with these settings says that it reaches Temporal, or that it does not. */
async function reaches(address: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const worker = await world.worker(address, env);
  const reached = await until('the worker has tried', () => {
    if (worker.output().includes('Temporal reached')) return 'yes';
    return worker.output().includes('Temporal cannot be reached') ? 'no' : null;
  });
  await worker.kill();
  return reached === 'yes';
}

test('with TLS a worker wants a certificate that it trusts', async () => {
  const front = await startTemporalFront((await sharedTemporal()).address);
  atFileEnd(() => front.close());
  expect(await reaches(front.address, CA)).toBe(true);
  expect(await reaches(front.address, { SVC_TEMPORAL_TLS: '1' })).toBe(false);
  expect(await reaches(front.address, {})).toBe(false);
}, 180_000);

test('where Temporal asks for a certificate, a worker that has one is let in', async () => {
  const front = await startTemporalFront((await sharedTemporal()).address, { client_certificate: true });
  atFileEnd(() => front.close());
  expect(await reaches(front.address, { ...CA, ...CERTIFICATE })).toBe(true);
  expect(await reaches(front.address, CA)).toBe(false);
}, 180_000);

test('an API key is sent with every call', async () => {
  const front = await startTemporalFront((await sharedTemporal()).address, { api_key: 'right' });
  atFileEnd(() => front.close());
  expect(await reaches(front.address, { ...CA, SVC_TEMPORAL_API_KEY: 'right' })).toBe(true);
  expect(front.refused).toBe(0);
  expect(await reaches(front.address, { ...CA, SVC_TEMPORAL_API_KEY: 'wrong' })).toBe(false);
  expect(front.refused).toBeGreaterThan(0);
}, 180_000);

test.each([
  [{ SVC_TEMPORAL_API_KEY: 'k' }, 'SVC_TEMPORAL_API_KEY needs SVC_TEMPORAL_TLS=1'],
  [CERTIFICATE, 'SVC_TEMPORAL_TLS_CERT_FILE needs SVC_TEMPORAL_TLS=1'],
  [{ SVC_TEMPORAL_TLS: '1', SVC_TEMPORAL_TLS_KEY_FILE: 'key.pem' }, 'belong together'],
])('settings that contradict each other are refused at the start: %j', (env, sentence) => {
  expect(() => securityOf(readConfig(env))).toThrow(sentence);
});

test('a versioned worker works once its version is the current one, and the figures of the SDK are on its listener', async () => {
  const temporal = await startTemporal();
  atFileEnd(() => temporal.stop());
  const client = await connect(temporal);
  const version = { SVC_TEMPORAL_DEPLOYMENT: 'svc', SVC_TEMPORAL_BUILD_ID: 'seven' };
  const worker = await world.worker(temporal.address, version);
  const { namespace } = temporal;
  await until('the version is known and current', async () => {
    await client.workflowService.setWorkerDeploymentCurrentVersion({
      ...{ namespace, deploymentName: 'svc', version: 'svc.seven', identity: 'test' },
      ...{ ignoreMissingTaskQueues: true },
    });
    return true;
  });
  const topup = await world.topup(await world.org('versioned'));
  world.pay(topup);
  const run = await until('the run began', () => world.workflow(client, topup.id).catch(() => null));
  const raw = await until('a version works on it', async () => {
    const { raw: info } = await world.workflow(client, topup.id);
    return info.workflowExecutionInfo?.versioningInfo?.deploymentVersion ?? null;
  });
  expect([run.type, raw.deploymentName, raw.buildId]).toEqual(['topUp', 'svc', 'seven']);
  const [, url] = /"url":"([^"]+)"/.exec(worker.output()) as RegExpExecArray;
  const shown = await until('figures', async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return text.includes('temporal_workflow_task_execution_latency') ? text : null;
  });
  expect(shown).toMatch(/^# TYPE temporal_request_total counter$/m);
  expect(shown).toMatch(/^temporal_request_total\{.*operation="RespondWorkflowTaskCompleted".*\} [1-9]/m);
  expect(shown).toMatch(/^temporal_workflow_task_execution_latency_seconds_bucket\{.*le="\+Inf".*\} [1-9]/m);
  expect(shown).toMatch(/^temporal_worker_task_slots_available\{/m);
  const open = await fetch(`${url}/metrics`, { headers: { accept: 'application/openmetrics-text' } });
  expect(await open.text()).toMatch(/^# TYPE temporal_request counter$/m);
}, 180_000);
