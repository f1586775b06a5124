// What to do about one Project object, from what the service has. Pure.
import type { ProjectView } from './service.ts';
import type { ProjectObject } from './types.ts';

export const DEFAULT_ALERTS: readonly number[] = [50, 80, 100];

export type ProjectStep =
  | { readonly do: 'create'; readonly body: object }
  /** `adopts`: the project was nobody's. */
  | { readonly do: 'update'; readonly id: string; readonly body: object; readonly adopts: boolean };

type ProjectDecision =
  | { readonly kind: 'act'; readonly step: ProjectStep }
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'done'; readonly project: ProjectView };

/** The project's settings as the manifest has them. */
function wanted({ spec }: ProjectObject) {
  const { rpm = null, tpm = null, concurrency = null } = spec.limits ?? {};
  return {
    name: spec.displayName ?? spec.slug,
    budget: { monthly_micro: spec.budget?.monthlyMicro ?? null, hard: spec.budget?.hard ?? true },
    limits: { rpm, tpm, concurrency },
    alerts: spec.alerts ?? DEFAULT_ALERTS,
  };
}

function isSame(project: ProjectView, want: ReturnType<typeof wanted>): boolean {
  const { name, budget, limits, alerts } = project;
  return (
    name === want.name &&
    budget.monthly_micro === want.budget.monthly_micro &&
    budget.hard === want.budget.hard &&
    limits.rpm === want.limits.rpm &&
    limits.tpm === want.limits.tpm &&
    limits.concurrency === want.limits.concurrency &&
    [...alerts].join() === [...want.alerts].join()
  );
}

/** The next step, or what the status says. A project of the slug that nobody keeps is adopted, not made twice. */
export function decideProject(
  object: ProjectObject,
  manifest: string,
  projects: readonly ProjectView[],
): ProjectDecision {
  const { slug, environment = 'live' } = object.spec;
  const want = wanted(object);
  const found = projects.find((one) => one.slug === slug);
  if (found === undefined) {
    return { kind: 'act', step: { do: 'create', body: { slug, environment, ...want } } };
  }
  if (found.environment !== environment) {
    const message = `spec.environment: project ${slug} is of the ${found.environment} environment`;
    return { kind: 'conflict', message };
  }
  if (found.managed_by !== null && found.managed_by !== manifest) {
    const [, cluster, namespace, name] = found.managed_by.split('/');
    const message = `spec.slug: project ${slug} is kept by Project ${namespace}/${name} of cluster ${cluster}`;
    return { kind: 'conflict', message };
  }
  const adopts = found.managed_by === null;
  if (!adopts && isSame(found, want)) return { kind: 'done', project: found };
  return { kind: 'act', step: { do: 'update', id: found.id, body: want, adopts } };
}
