// What owners and admins do about their directory: tokens, and the log of what it asked.
import { type Static, Type } from 'typebox';
import {
  idOf,
  isId,
  Nothing,
  named,
  notFound,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  ServiceError,
  Time,
  walkPage,
} from '../../kernel/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { ssoAudience } from '../sso/domains.ts';
import { scimUrl } from './directory.ts';
import { hashScimToken, hintOfToken, newScimToken } from './token.ts';
import { scimTokenExample } from './token-schema.ts';
import { deleteToken, insertToken, listLogRows, listTokens, type ScimLogRow } from './token-store.ts';

/** Enough to change one without a gap. */
const TOKENS_MAX = 3;
const LOG_MAX = 500;
const LOG_PAGE = 100;

export const createScimTokenOperation = operation({
  name: 'scim.tokens.create',
  method: 'POST',
  path: '/v1/org/scim/token',
  summary: `Make a token for the directory of the organization; at most ${TOKENS_MAX} at a time`,
  audience: ssoAudience,
  input: Type.Object({}),
  output: named(
    'ScimTokenMade',
    Type.Object({
      id: idOf('scim_token'),
      token: Type.String({ description: 'shown once' }),
      hint: Type.String(),
      url: Type.String({ description: 'where the directory sends its requests' }),
      warning: Type.String(),
    }),
  ),
  errors: ['plan_limit_reached', 'csrf_failed'],
  status: 201,
  idempotent: true,
  example: {
    id: scimTokenExample.id,
    token: `svc_scim_${'0'.repeat(34)}k9J2`,
    hint: '...k9J2',
    url: 'https://llm.example/scim/v2',
    warning: 'The token is shown once. Keep it where the directory needs it.',
  },
  run: (context) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      // Two requests for the last place take turns.
      if ((await lockOrg(context.db, org_id)) === null) throw notFound();
      if ((await listTokens(context.db, org_id)).length >= TOKENS_MAX)
        throw new ServiceError(
          'plan_limit_reached',
          `A directory has at most ${TOKENS_MAX} tokens. End one first.`,
          {
            details: { limit: 'scim_tokens', limit_value: TOKENS_MAX },
          },
        );
      const token = newScimToken();
      const id = context.newId('scim_token');
      const hint = hintOfToken(token);
      await insertToken(context.db, {
        id,
        org_id,
        hint,
        created_at: context.now(),
        hash: hashScimToken(token),
      });
      const target = { type: 'scim_token', id, display: hint };
      await writeAudit(context, { action: 'scim.tokens.create', org_id, target });
      const warning = 'The token is shown once. Keep it where the directory needs it.';
      return { id, token, hint, url: await scimUrl(context), warning };
    }),
});

export const deleteScimTokenOperation = operation({
  name: 'scim.tokens.delete',
  method: 'DELETE',
  path: '/v1/org/scim/token/:id',
  summary: 'End a token of the directory; who it has provisioned stays',
  audience: ssoAudience,
  input: Type.Object({ id: idOf('scim_token') }),
  output: Nothing,
  errors: ['csrf_failed'],
  status: 204,
  example: {},
  run: (context, { id }) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      const ended = isId('scim_token', id) ? await deleteToken(context.db, { org_id, id }) : null;
      if (ended === null) throw notFound();
      const target = { type: 'scim_token', id: ended.id, display: ended.hint };
      await writeAudit(context, { action: 'scim.tokens.delete', org_id, target });
      return {};
    }),
});

export const ScimLogView = named(
  'ScimLogRow',
  Type.Object({
    id: Type.Integer(),
    at: Time,
    token_id: Type.String(),
    method: Type.String(),
    path: Type.String({ description: 'without the query, which may hold addresses' }),
    resource_type: Type.String({ description: 'User or Group; empty for neither' }),
    resource_id: Type.String(),
    status: Type.Integer(),
    reason: Type.String({
      description: 'why it was refused: the `scimType`, or the status; empty when it was not',
    }),
  }),
);

function viewRow({ at, ...row }: ScimLogRow): Static<typeof ScimLogView> {
  return { ...row, at: at.toISOString() };
}

export const listScimLogOperation = operation({
  name: 'scim.log',
  method: 'GET',
  path: '/v1/org/scim/log',
  summary: 'List what the directory asked in the last 90 days, newest first, also what was refused',
  audience: ssoAudience,
  input: Type.Object({ ...pageInput(LOG_MAX) }),
  output: pageOf(ScimLogView),
  errors: [],
  example: {
    object: 'list',
    data: [
      {
        ...{ id: 4_211, at: '2026-11-21T10:00:00.000Z', token_id: scimTokenExample.id, method: 'PATCH' },
        path: '/Users/usr_01KACZ3V8S6T5R4Q3P2N1M0K9J',
        ...{ resource_type: 'User', resource_id: 'usr_01KACZ3V8S6T5R4Q3P2N1M0K9J', status: 200, reason: '' },
      },
    ],
    next_cursor: '',
  },
  async run(context, { cursor, limit }) {
    const { org_id } = orgCaller(context);
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      ...{ bound: `scim.log ${org_id}`, cursor, limit: limit ?? LOG_PAGE },
      read: (after, limit) => listLogRows(context.db, { org_id, before_id: after?.at ?? null, limit }),
      placeOf: (row) => ({ at: row.id, id: '' }),
    });
    return page(rows.map(viewRow), next_cursor, cursorAt);
  },
});
