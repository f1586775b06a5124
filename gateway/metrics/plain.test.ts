import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { spreads } from './plain.ts';

test('a bucket shows the call that it counted last as its exemplar, and only OpenMetrics shows it', async () => {
  const registry = new Registry();
  const held = spreads(registry, 'svc_example_seconds', 'Seconds.');
  const spread = held.of({ provider: 'openai' });
  const of = { request_id: 'req_1', trace_id: '', at_ms: 1_700_000_000_000 };
  spread.observe(0.2, of);
  spread.observe(0.24, { ...of, request_id: 'req_2', trace_id: '0af7651916cd43dd8448eb211c80319c' });
  expect(await registry.metrics()).toContain('svc_example_seconds_bucket{le="0.25",provider="openai"} 2\n');
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never);
  const text = await registry.metrics();
  expect(text).toContain(
    'svc_example_seconds_bucket{le="0.25",provider="openai"} 2 # {request_id="req_2",trace_id="0af7651916cd43dd8448eb211c80319c"} 0.24 1700000000\n',
  );
  expect(text).toContain('svc_example_seconds_bucket{le="0.5",provider="openai"} 2\n');
  expect(text).toContain('svc_example_seconds_count{provider="openai"} 2');
});
