// What an organization is, who is in it, and how it is set up.
import { viewProjects } from '../../budgets/index.ts';
import { listByokOperation } from '../../byok/index.ts';
import { listAppsOperation } from '../../figures/index.ts';
import {
  getSsoOperation,
  listAuditOperation,
  listDirectory,
  listInvitationsOperation,
  listMembersOperation,
  listScimLogOperation,
} from '../../identity/index.ts';
import { listKeysOperation } from '../../keys/index.ts';
import { listAcceptancesOperation } from '../../legal/index.ts';
import { getOrgOperation, listProjects } from '../../orgs/index.ts';
import { listSubjectRequestsOperation } from '../../privacy/index.ts';
import { getTicketOperation, listLimitRequestsOperation, listTicketsOperation } from '../../support/index.ts';
import { listDeliveriesOperation, listWebhooksOperation } from '../../webhooks/index.ts';
import type { RowFile } from '../types.ts';
import { answerOf, ofBoth, once, pagesOf, under } from '../walk.ts';

/** Entries of the audit log are short. */
const AUDIT_PAGE = 500;

export const accountFiles: readonly RowFile[] = [
  {
    name: 'organization',
    about: 'The organization: its names, addresses, security settings and data policy. One line.',
    route: 'GET /v1/orgs/{id}',
    pages: ({ live, org_id }) => once(answerOf(live, getOrgOperation, { id: org_id }).then((org) => [org])),
  },
  {
    name: 'projects',
    about: 'Projects with their budgets and limits, the archived ones too.',
    route: 'GET /v1/projects',
    // The route leaves archived ones out, which calls of before name.
    async *pages({ live, org_id }) {
      const wanted = { org_id, environment: null, id: null, archived: true } as const;
      yield await viewProjects(live, await listProjects(live.db, wanted));
    },
  },
  {
    name: 'members',
    about: 'The people of the organization with their roles.',
    route: 'GET /v1/orgs/{id}/members',
    pages: ({ live, org_id }) =>
      once(answerOf(live, listMembersOperation, { id: org_id }).then(({ data }) => data)),
  },
  {
    name: 'invitations',
    about: 'Who was invited, by whom, and what became of it.',
    route: 'GET /v1/orgs/{id}/invitations',
    pages: ({ live, org_id }) =>
      once(answerOf(live, listInvitationsOperation, { id: org_id }).then(({ data }) => data)),
  },
  {
    name: 'apps',
    about: 'Apps that calls named, with what is published of them.',
    route: 'GET /v1/apps',
    pages: ({ live }) => once(answerOf(live, listAppsOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'keys',
    about: 'API keys with scopes, budgets and limits, the ended ones too. Their secrets are stored nowhere.',
    route: 'GET /v1/keys',
    pages: (source) =>
      ofBoth(source, (context, environment) => pagesOf(context, listKeysOperation, { environment })),
  },
  {
    name: 'provider_keys',
    about: 'Your own keys at providers, by their last characters: the keys themselves are not given out.',
    route: 'GET /v1/byok',
    pages: ({ live }) => once(answerOf(live, listByokOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'webhooks',
    about: 'Endpoints of webhooks and the events that they get, without their signing secrets.',
    route: 'GET /v1/webhooks',
    pages: ({ live }) => once(answerOf(live, listWebhooksOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'webhook_deliveries',
    about: 'What was sent to these endpoints in the last 30 days, with the content and every attempt.',
    route: 'GET /v1/webhooks/{id}/deliveries',
    pages: ({ live }) =>
      under(
        once(answerOf(live, listWebhooksOperation, {}).then(({ data }) => data)) as AsyncIterable<
          readonly { readonly id: string }[]
        >,
        ({ id }) => pagesOf(live, listDeliveriesOperation, { id } as never),
      ),
  },
  {
    name: 'single_sign_on',
    about:
      'The identity provider, the mail domains and the tokens of the directory by their hints. One line.',
    route: 'GET /v1/org/sso',
    pages: ({ live }) => once(answerOf(live, getSsoOperation, {}).then((sso) => [sso])),
  },
  {
    name: 'directory_users',
    about: 'What your directory has said of members, as SCIM resources.',
    route: 'GET /scim/v2/Users',
    pages: ({ live, org_id }) => listDirectory(live, org_id, 'users'),
  },
  {
    name: 'directory_groups',
    about: 'The groups of your directory with who is in them, as SCIM resources.',
    route: 'GET /scim/v2/Groups',
    pages: ({ live, org_id }) => listDirectory(live, org_id, 'groups'),
  },
  {
    name: 'directory_log',
    about: 'The requests of your directory in the last 90 days.',
    route: 'GET /v1/org/scim/log',
    pages: ({ live }) => pagesOf(live, listScimLogOperation, {}),
  },
  {
    name: 'limit_requests',
    about: 'Requests for higher limits and how they were decided.',
    route: 'GET /v1/limits/requests',
    pages: ({ live }) => pagesOf(live, listLimitRequestsOperation, {}),
  },
  {
    name: 'tickets',
    about: 'Tickets with everything that was written in them.',
    route: 'GET /v1/tickets/{id}',
    pages: ({ live }) =>
      under(pagesOf(live, listTicketsOperation, {}), ({ id }) =>
        once(answerOf(live, getTicketOperation, { id }).then((ticket) => [ticket])),
      ),
  },
  {
    name: 'legal_acceptances',
    about: 'Which legal documents were accepted, by whom, when and how.',
    route: 'GET /v1/legal/acceptances',
    pages: ({ live }) => once(answerOf(live, listAcceptancesOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'privacy_requests',
    about: 'Erasures and exports of your end users, with the receipts.',
    route: 'GET /v1/privacy/requests',
    pages: ({ live }) => pagesOf(live, listSubjectRequestsOperation, {}),
  },
  {
    name: 'audit_log',
    about: 'Who did what in the organization, newest first, for as long as it is kept.',
    route: 'GET /v1/audit-log',
    pages: ({ live }) => pagesOf(live, listAuditOperation, {}, AUDIT_PAGE),
  },
];
