// The chart gives programs every setting in a form that they accept, and starts new pods when one changes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signInSettings } from '@svc/core/identity/index.ts';
import { type Config, loadRootKey, readConfig, rootKeys, settings } from '@svc/core/kernel/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';
import { describe, expect, test } from 'vitest';
import { readOptions } from '../operator/options.ts';
import {
  containerOf,
  environmentOf,
  find,
  type Manifest,
  podOf,
  programs,
  readText,
  renderObjects,
  svc,
} from './render.ts';

describe('settings', () => {
  test.each(['minimal', 'production'] as const)(
    'programs of %s accept the settings that they are given',
    async (values) => {
      const objects = await renderObjects(values);
      const servers = programs(objects).filter(({ metadata }) => metadata.name !== 'svc-operator');
      expect(servers.length).toBeGreaterThan(2);
      for (const program of servers) {
        const config: Config = readConfig(environmentOf(objects, program));
        if (program.kind === 'Job') continue;
        expect(() => signInSettings(config, config.base_url ?? '')).not.toThrow();
        expect(() => openMoneyIn(config)).not.toThrow();
        expect(config.process_name).not.toBe(null);
        expect(config.data_dir).toBe('/var/lib/svc');
        const mounts = containerOf(program)['volumeMounts'].map(({ mountPath }: Manifest) => mountPath);
        expect(mounts).toContain('/var/lib/svc');
        expect(mounts).toContain('/etc/svc/key-ring');
      }
    },
  );

  test('every setting can be set through the chart, except what is for demonstrations', async () => {
    const set = {
      'postgres.existingSecret.directKey': 'direct-url',
      trustedProxies: ['10.0.0.0/8'],
      'eInvoices.url': 'https://portal.example',
      'eInvoices.existingSecret.name': 'svc-e-invoices',
      'eInvoices.existingSecret.keysKey': 'keys.pem',
      challenge: {
        ...{ kind: 'turnstile', siteKey: 'site', url: 'https://verify.example' },
        existingSecret: { name: 'svc-challenge', key: 'secret' },
      },
      'rails.a.baseUrl': 'https://rail-a.example',
      'rails.b.baseUrl': 'https://rail.example',
      'mail.existingSecret.caKey': 'ca.crt',
      storefronts: {
        ...{ base: 'shops.example', tls: { enabled: true, existingSecret: { name: 'shops-tls' } } },
        acme: {
          ...{ directoryUrl: 'https://acme.example/dir', email: 'ops@llm.example' },
          eab: { kid: 'kid-1', existingSecret: { name: 'svc-acme' } },
        },
      },
      'webhooks.egressAllow': ['10.2.0.0/16'],
      'webhooks.dnsServers': ['10.0.0.2'],
      'ledger.shards.existingSecret.name': 'svc-shards',
      'ledger.shards.open': ['main', 'a'],
      'analytics.existingSecret.name': 'svc-analytics',
      'temporal.tls.enabled': true,
      'temporal.tls.serverName': 'temporal.example',
      'temporal.tls.existingSecret': { name: 'temporal', caKey: 'ca', certKey: 'crt', keyKey: 'key' },
      'temporal.apiKey.existingSecret.name': 'temporal',
      'temporal.deployment': 'svc',
      'temporal.buildId': '7',
      'temporal.decoder.uiOrigins': ['https://temporal.example'],
    };
    const objects = await renderObjects('production', { set });
    const given = new Set(
      programs(objects).flatMap((program) => Object.keys(environmentOf(objects, program))),
    );
    const missing = Object.values(settings).filter(({ env }) => !given.has(env));
    expect(missing.map(({ env }) => env)).toEqual(['SVC_DEV', 'SVC_EINVOICE_DEMO_URL']);
  });

  test('every SVC_ name in the chart is a setting', () => {
    const texts = [
      ...readdirSync(join(svc, 'templates')).map((name) => readText('svc/templates', name)),
      ...['README.md', 'values.yaml', 'values.schema.json'].map((name) => readText('svc', name)),
    ];
    const used = new Set(texts.join('\n').match(/SVC_[A-Z0-9]+(?:_[A-Z0-9]+)*/g));
    const known = new Set<string>(Object.values(settings).map(({ env }) => env));
    expect([...used].filter((name) => !known.has(name))).toEqual([]);
  });

  test('the operator accepts the flags that the chart gives it', async () => {
    for (const values of ['production', 'operator-only'] as const) {
      const set = { 'operator.allowedBaseUrls': ['https://other.example'] };
      const operator = find(await renderObjects(values, { set }), 'Deployment', 'svc-operator');
      const options = readOptions(containerOf(operator)['args']);
      expect(options.allowed_base_url).toEqual(['https://other.example']);
      expect(options.lease_name).toBe('svc-operator');
      expect(options.watch_namespace).toEqual(values === 'production' ? [] : ['team-a', 'team-b']);
    }
  });

  test('the key ring that README.md describes is valid', () => {
    const command = /^printf .*keyring\.json$/m.exec(readText('svc/README.md'))?.[0];
    const folder = mkdtempSync(join(tmpdir(), 'svc-key-ring-'));
    try {
      execFileSync('sh', ['-c', command as string], { cwd: folder });
      expect(rootKeys(loadRootKey(join(folder, 'keyring.json')))[0].bytes).toHaveLength(32);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a changed setting or providers file starts new pods', async () => {
    const sums = async (set: Record<string, unknown>) => {
      const gateway = find(await renderObjects('minimal', { set }), 'Deployment', 'svc-gateway');
      return Object.entries(podOf(gateway)?.metadata['annotations']).filter(([name]) =>
        name.startsWith('checksum/'),
      );
    };
    const before = await sums({});
    expect(await sums({})).toEqual(before);
    expect(await sums({ cell: 'other' })).not.toEqual(before);
    expect(await sums({ 'providers.file': 'version: 1' })).not.toEqual(before);
  });
});
