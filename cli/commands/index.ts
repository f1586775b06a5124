// All commands, in the order of `svcctl --help`. A command is loaded only when it is called, so that `svcctl` starts
// quickly.
import type { Command } from '../command.ts';

export interface Listed {
  readonly name: string;
  readonly summary: string;
  load(): Promise<Command>;
}

function listed(name: string, summary: string, load: () => Promise<{ command: Command }>): Listed {
  return { name, summary, load: async () => (await load()).command };
}

export const commands: readonly Listed[] = [
  listed('status', 'show what is running and whether it is ready', () => import('./status.ts')),
  listed('doctor', 'show which tools this machine has, and where', () => import('./doctor.ts')),
  listed('config', 'show every setting with its value, secrets masked', () => import('./config.ts')),
  listed('migrate', 'migrate the database to this release', () => import('./migrate.ts')),
  listed('shard list', 'show every ledger: where it is, its load and size', () => import('./shard/list.ts')),
  listed('shard add', 'make a ledger, or a place for one', () => import('./shard/add.ts')),
  listed('shard move', 'move a ledger to another place while calls go on', () => import('./shard/move.ts')),
  listed('shard drain', 'send no new organizations to a ledger', () => import('./shard/drain.ts')),
  listed('keyring status', 'show what is sealed under which root key', () => import('./keyring/status.ts')),
  listed('keyring add', 'add a root key to the key ring', () => import('./keyring/add.ts')),
  listed('keyring promote', 'make a root key the current one', () => import('./keyring/promote.ts')),
  listed('keyring rotate', 'seal everything under the current root key', () => import('./keyring/rotate.ts')),
  listed('keyring remove', 'take a former root key out', () => import('./keyring/remove.ts')),
  listed('org create', 'create an organization', () => import('./org-create.ts')),
  listed(
    'org set',
    'change plan, status, taxation or marks of an organization',
    () => import('./org-set.ts'),
  ),
  listed('privacy erase', 'erase an end user of an organization', () => import('./privacy/erase.ts')),
  listed(
    'privacy list',
    "show erasures and exports of an organization's end users",
    () => import('./privacy/list.ts'),
  ),
  listed(
    'privacy check-receipt',
    'recompute the digest of an erasure',
    () => import('./privacy/check-receipt.ts'),
  ),
  listed('org close', 'close an organization', () => import('./privacy/org-close.ts')),
  listed(
    'org erase',
    'ask for the erasure of an organization, or take it back',
    () => import('./privacy/org-erase.ts'),
  ),
  listed(
    'privacy org-receipt',
    "recompute the receipt of an organization's erasure",
    () => import('./privacy/org-receipt.ts'),
  ),
  listed(
    'privacy terms',
    'show or change how long erasures of organizations are announced',
    () => import('./privacy/terms.ts'),
  ),
  listed(
    'org plan',
    'show the plan of an organization and what it was charged',
    () => import('./org-plan.ts'),
  ),
  listed('plans show', 'show what plans cost and allow, and what changes', () => import('./plans/show.ts')),
  listed('plans set', 'change what a plan costs or allows, for everybody', () => import('./plans/set.ts')),
  listed('project create', 'create a project', () => import('./project-create.ts')),
  listed('project set', 'set what all keys of a project may call together', () => import('./project/set.ts')),
  listed('key create', 'create an API key and show its secret', () => import('./key-create.ts')),
  listed(
    'user create',
    'create a user, or make one a member of an organization',
    () => import('./user-create.ts'),
  ),
  listed('staff create', 'create a member of staff', () => import('./staff-create.ts')),
  listed(
    'audit verify',
    'recompute the audit log and say whether it is whole',
    () => import('./audit-verify.ts'),
  ),
  listed('audit list', 'show entries of the audit log, newest first', () => import('./audit/list.ts')),
  listed(
    'audit follow',
    'show entries of the audit log as they are written, until ended',
    () => import('./audit/follow.ts'),
  ),
  listed('audit export', 'write entries of the audit log as CSV', () => import('./audit/export.ts')),
  listed('credits grant', 'grant credit to an organization', () => import('./credits/grant.ts')),
  listed(
    'credits refunds',
    'list refunds that are pending or have failed',
    () => import('./credits/refunds.ts'),
  ),
  listed(
    'credits auto-topups',
    'list automatic top-ups, those that are blocked or switched off first',
    () => import('./credits/auto-topups.ts'),
  ),
  listed(
    'credits reconcile',
    'compare the ledger of an organization with its calls, day by day',
    () => import('./credits/reconcile.ts'),
  ),
  listed(
    'limits list',
    'list requests for higher limits that wait for a decision',
    () => import('./limits/list.ts'),
  ),
  listed('limits approve', 'grant a request for higher limits', () => import('./limits/approve.ts')),
  listed('limits refuse', 'refuse a request for higher limits', () => import('./limits/refuse.ts')),
  listed(
    'limits new-orgs',
    'show or change the limits of organizations that people make themselves',
    () => import('./limits/new-orgs.ts'),
  ),
  listed(
    'limits override',
    'set what an organization may use beyond its plan',
    () => import('./limits/override.ts'),
  ),
  listed(
    'analytics backfill',
    'bring rows of calls to ClickHouse while calls run',
    () => import('./analytics/backfill.ts'),
  ),
  listed(
    'announcements list',
    'list what customers are and were shown',
    () => import('./announcements/list.ts'),
  ),
  listed(
    'announcements create',
    'say something to customers for a time',
    () => import('./announcements/create.ts'),
  ),
  listed('announcements end', 'end an announcement now', () => import('./announcements/end.ts')),
  listed('legal list', 'list the versions of legal documents', () => import('./legal/list.ts')),
  listed('legal publish', 'publish a version of a legal document', () => import('./legal/publish.ts')),
  listed(
    'legal set',
    'set what legal texts say of whoever runs this, and whether they bind',
    () => import('./legal/set.ts'),
  ),
  listed(
    'legal subprocessors',
    'show the list of sub-processors, or publish the next',
    () => import('./legal/subprocessors.ts'),
  ),
  listed('tickets list', 'list tickets that wait for staff', () => import('./tickets/list.ts')),
  listed('tickets show', 'show a ticket and what was written', () => import('./tickets/show.ts')),
  listed('tickets answer', 'answer a ticket', () => import('./tickets/answer.ts')),
  listed(
    'access list',
    'list requests for access that wait for a decision',
    () => import('./access/list.ts'),
  ),
  listed(
    'access approve',
    'approve a request for access, with a mail that has the link',
    () => import('./access/approve.ts'),
  ),
  listed('access decline', 'decline a request for access', () => import('./access/decline.ts')),
  listed(
    'waitlist list',
    'list people who wait until they may make an organization',
    () => import('./waitlist/list.ts'),
  ),
  listed(
    'waitlist invite',
    'let a person of the waitlist make an organization, with a mail',
    () => import('./waitlist/invite.ts'),
  ),
  listed('invites create', 'make an invite code and print it, once', () => import('./invites/create.ts')),
  listed('invites list', 'list invite codes, without the codes', () => import('./invites/list.ts')),
  listed('invites revoke', 'revoke an invite code', () => import('./invites/revoke.ts')),
  listed('redeem create', 'make a batch of codes and print them, once', () => import('./redeem/create.ts')),
  listed('redeem list', 'list batches of codes', () => import('./redeem/list.ts')),
  listed('redeem close', 'end a batch of codes', () => import('./redeem/close.ts')),
  listed(
    'ledger verify',
    'recompute the ledger and say whether it is right',
    () => import('./ledger/verify.ts'),
  ),
  listed(
    'ledger dump',
    'write the ledger to files that can be verified offline',
    () => import('./ledger/dump.ts'),
  ),
  listed(
    'ledger trial-balance',
    'show what stands on each account, and that debits are credits',
    () => import('./ledger/trial-balance.ts'),
  ),
  listed(
    'ledger checkpoint',
    'sign what the ledger is now, for publication',
    () => import('./ledger/checkpoint.ts'),
  ),
  listed('ledger prove', 'write the proof of what one call was charged', () => import('./ledger/prove.ts')),
  listed(
    'ledger check-proof',
    'check such a proof, without database or network',
    () => import('./ledger/check-proof.ts'),
  ),
  listed(
    'rails compare',
    'compare a day with the books of a payment rail',
    () => import('./rails/compare.ts'),
  ),
  listed(
    'rails list',
    'show what the daily comparison with the rails has found',
    () => import('./rails/list.ts'),
  ),
  listed('disputes list', 'show disputes that wait for somebody', () => import('./disputes/list.ts')),
  listed('disputes show', 'show one dispute', () => import('./disputes/show.ts')),
  listed('disputes lift', 'let an organization make calls again', () => import('./disputes/lift.ts')),
  listed('disputes paid', 'note that a loss was paid', () => import('./disputes/paid.ts')),
  listed(
    'approvals list',
    'show acts of staff that wait for a second person',
    () => import('./review/approvals.ts'),
  ),
  listed('review list', 'show payments that differ from what was asked', () => import('./review/list.ts')),
  listed('review accept', 'book what was paid', () => import('./review/accept.ts')),
  listed('review refuse', 'give back what was paid', () => import('./review/refuse.ts')),
  listed('supplier show', 'show who sells, and the rates of tax', () => import('./supplier/show.ts')),
  listed('supplier set', 'set who sells, as the next documents show it', () => import('./supplier/set.ts')),
  listed('supplier rate', 'set the rate of GST from a day on', () => import('./supplier/rate.ts')),
  listed(
    'invoices export',
    'write what an accountant files of a month (GSTR-1)',
    () => import('./invoices/export.ts'),
  ),
  listed(
    'invoices register',
    'register a document again whose registration failed',
    () => import('./invoices/register.ts'),
  ),
  listed(
    'fx accept',
    'put exchange rates in force that wait because one jumped',
    () => import('./fx-accept.ts'),
  ),
  listed('price check', 'recompute the charge of one call', () => import('./price-check.ts')),
  listed('catalog load', 'check a providers file', () => import('./catalog-load.ts')),
  listed('mail preview', 'show what mails look like', () => import('./mail/preview.ts')),
  listed('mail refused', 'list addresses that mail does not reach', () => import('./mail/refused.ts')),
  listed('mail release', 'let mail go to such an address again', () => import('./mail/release.ts')),
  listed(
    'mail bounce',
    'take a report that a mail was not delivered, from standard input',
    () => import('./mail/bounce.ts'),
  ),
  listed('policy validate', 'judge the text of a routing policy', () => import('./policy/validate.ts')),
  listed(
    'policy diff',
    'show which calls a text would route elsewhere, and what that costs',
    () => import('./policy/diff.ts'),
  ),
  listed(
    'policy apply',
    'store a text as the newest version of its policy, and activate it',
    () => import('./policy/apply.ts'),
  ),
  listed(
    'policy shadow-allowance',
    "show or set what the platform pays for an organization's shadows",
    () => import('./policy/shadow-allowance.ts'),
  ),
  listed(
    'evals import',
    'make a suite of cases that OpenAI, promptfoo or Inspect has',
    () => import('./evals/import.ts'),
  ),
  listed('evals run', 'run a suite and say by the exit code how it went', () => import('./evals/run.ts')),
  listed('evals list', 'list suites, or runs', () => import('./evals/list.ts')),
  listed('evals show', 'show a suite or a run', () => import('./evals/show.ts')),
  listed(
    'evals export',
    'write a suite, or the results of a run, to a file',
    () => import('./evals/export.ts'),
  ),
  listed('webhooks list', 'show webhook endpoints', () => import('./webhooks/list.ts')),
  listed(
    'webhooks create',
    'make a webhook endpoint and show its secret, once',
    () => import('./webhooks/create.ts'),
  ),
  listed(
    'webhooks update',
    'change a webhook endpoint, or switch it off or on',
    () => import('./webhooks/update.ts'),
  ),
  listed(
    'webhooks rotate',
    'replace the secret of a webhook endpoint and show it, once',
    () => import('./webhooks/rotate.ts'),
  ),
  listed('webhooks delete', 'delete a webhook endpoint', () => import('./webhooks/delete.ts')),
  listed('webhooks test', 'send test.ping to a webhook endpoint', () => import('./webhooks/test.ts')),
  listed(
    'webhooks deliveries',
    'show what was sent to a webhook endpoint',
    () => import('./webhooks/deliveries.ts'),
  ),
  listed('webhooks redeliver', 'send an event again', () => import('./webhooks/redeliver.ts')),
  listed(
    'webhooks events',
    'list the events that endpoints can subscribe to',
    () => import('./webhooks/events.ts'),
  ),
  listed('api', 'call an operation of the REST API', () => import('./api.ts')),
  listed(
    'backup take',
    'take a backup of the database while everything works',
    () => import('./backup/take.ts'),
  ),
  listed(
    'backup follow',
    'keep every change of the database, until ended',
    () => import('./backup/follow.ts'),
  ),
  listed('backup list', 'show the backups of a folder', () => import('./backup/list.ts')),
  listed('restore', 'make a data directory of a backup, as it was at a moment', () => import('./restore.ts')),
  listed(
    'completion',
    'print what completes commands and flags in bash, zsh or fish',
    () => import('./completion/script.ts'),
  ),
  listed('complete', 'say what may come next (for completion)', () => import('./completion/complete.ts')),
  listed(
    'dev clock advance',
    'move the clock of a development installation',
    () => import('./dev-clock-advance.ts'),
  ),
  listed(
    'dev clock reset',
    'set the clock back to that of the machine',
    () => import('./dev-clock-reset.ts'),
  ),
];
