// The organization's apps: what its calls name, and what of it everybody sees.
import { AppView, listAppsOperation, putAppOperation } from '@svc/core/figures/index.ts';
import { builder, derive } from '../builder.ts';
import { mutation } from '../mutation.ts';

const App = derive.output('App', AppView, { description: 'What calls name in `svc.app`.' });

builder.queryFields((t) => ({
  apps: t.field({
    type: [App],
    nullable: true,
    description:
      'Apps that calls of the organization named, by name; a new one is listed within ten minutes.',
    extensions: { operation: listAppsOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listAppsOperation, {})).data,
  }),
}));

interface Payload {
  readonly answer: unknown;
}

mutation({
  name: 'updateApp',
  operation: putAppOperation,
  input: putAppOperation.input,
  description: 'Says what an app is called, and whether everybody sees it. What is left out is reset.',
  payload: (t) => ({ app: t.field({ type: App, resolve: ({ answer }: Payload) => answer }) }),
});
