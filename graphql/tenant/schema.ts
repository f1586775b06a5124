// The tenant schema, served to sessions (yoga, on the console's address) and to keys (mercurius, on the gateway).
import type { GraphQLSchema } from 'graphql';
import { printSchema } from 'graphql';
import { builder } from './builder.ts';
import './types/common.ts';
import './types/viewer.ts';
import './types/organization.ts';
import './types/member.ts';
import './types/announcement.ts';
import './types/app.ts';
import './types/audit.ts';
import './types/byok.ts';
import './types/legal.ts';
import './types/key.ts';
import './types/money/plan.ts';
import './types/limits.ts';
import './types/model.ts';
import './types/route.ts';
import './types/request.ts';
import './types/resellers/invoicing.ts';
import './types/resellers/mail.ts';
import './types/resellers/reseller.ts';
import './types/resellers/storefront.ts';
import './types/resellers/statement.ts';
import './types/usage.ts';
import './types/money/credits.ts';
import './types/money/refund.ts';
import './types/money/topup.ts';
import './types/money/invoice.ts';
import './types/eval.ts';
import './types/money/gift.ts';
import './types/money/mandate.ts';
import './types/policy.ts';
import './types/org-export.ts';
import './types/privacy.ts';
import './types/node.ts';
import './types/sso.ts';
import './types/subscription.ts';
import './types/sign-up.ts';
import './types/ticket.ts';
import './types/webhook.ts';

builder.queryType({});
builder.mutationType({});

export const tenantSchema: GraphQLSchema = builder.toSchema();

/** The schema as committed in tenant/schema.graphql. */
export function printTenantSchema(): string {
  return `${printSchema(tenantSchema)}\n`;
}
