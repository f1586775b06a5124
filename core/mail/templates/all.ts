// Every mail that the service can send, by its name in the table.
import type { Static } from 'typebox';
import { accountMails } from './account.ts';
import { creditMails } from './credit.ts';
import type { Template } from './define.ts';
import { moneyMails } from './money.ts';
import { organizationMails } from './organization.ts';

export const templates = { ...moneyMails, ...creditMails, ...accountMails, ...organizationMails };

export type TemplateName = keyof typeof templates;
export type DataOf<T extends TemplateName> = Static<(typeof templates)[T]['data']>;

/** The template of that name; null for one that this release does not know. */
export function findTemplate(name: string): Template | null {
  return Object.hasOwn(templates, name) ? (templates[name as TemplateName] as unknown as Template) : null;
}

/** Names of the templates that are put off when their address had its mails of the day. */
export const courtesies = Object.keys(templates).filter((name) => findTemplate(name)?.duty === 'courtesy');
