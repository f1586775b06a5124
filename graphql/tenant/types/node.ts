// Looks up any object by its id, whose prefix names its type.
import { listByokOperation } from '@svc/core/byok/index.ts';
import { isId, isRequestId, ServiceError } from '@svc/core/kernel/index.ts';
import { getMandateOperation } from '@svc/core/mandates/index.ts';
import { getOrgOperation } from '@svc/core/orgs/index.ts';
import { getRefundOperation } from '@svc/core/refunds/index.ts';
import { getTopupOperation } from '@svc/core/topups/index.ts';
import { getWebhookOperation } from '@svc/core/webhooks/index.ts';
import { builder, Node } from '../builder.ts';
import type { TenantContext } from '../context.ts';
import { nullWhenMissing } from '../missing.ts';

const IDS_MAX = 100;

/** The object with `id`, marked with its type; null when the caller may not see it or it does not exist. */
async function findNode(id: string, { runner, loaders }: TenantContext): Promise<object | null> {
  const marked = (type: string, found: object | null | undefined) =>
    found === null || found === undefined ? null : { ...found, __typename: type };
  if (isRequestId(id)) return marked('Request', await loaders.details.load(id));
  if (isId('key', id)) return marked('Key', await loaders.keys.load(id));
  if (isId('project', id)) return marked('Project', (await loaders.projects()).get(id));
  if (isId('topup', id)) return marked('Topup', await nullWhenMissing(runner.run(getTopupOperation, { id })));
  if (isId('refund', id)) {
    const found = await nullWhenMissing(runner.run(getRefundOperation, { id }));
    return marked('Refund', found?.refund);
  }
  if (isId('mandate', id)) {
    const found = await nullWhenMissing(runner.run(getMandateOperation, { id }));
    return marked('Mandate', found?.mandate);
  }
  if (isId('webhook', id)) {
    return marked('Webhook', await nullWhenMissing(runner.run(getWebhookOperation, { id })));
  }
  if (isId('byok', id)) {
    const { data } = await runner.run(listByokOperation, {});
    return marked(
      'ProviderKey',
      data.find((key) => key.id === id),
    );
  }
  if (isId('org', id)) {
    return marked('Organization', await nullWhenMissing(runner.run(getOrgOperation, { id })));
  }
  return null;
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: null },
    resolve: (_root, { id }, context) => findNode(id, context),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    args: { ids: t.arg.idList({ required: true, description: `at most ${IDS_MAX}` }) },
    complexity: ({ ids }) => ({ field: 1, multiplier: ids.length }),
    extensions: { operation: null },
    resolve: (_root, { ids }, context) => {
      if (ids.length > IDS_MAX) {
        throw new ServiceError('invalid_request', `ids has at most ${IDS_MAX} items.`, { param: 'ids' });
      }
      return ids.map((id) => findNode(id, context));
    },
  }),
}));
