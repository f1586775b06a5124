// The addresses of evaluations: suites and runs, one suite, one run.
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { kept } from '../../app/kept.ts';
import type { orgRoute } from '../../app/router.tsx';
import { readEvalRunSearch, readEvalSuiteSearch } from '../../app/search.ts';

export const evalPages = {
  evals: lazyRouteComponent(
    kept(() => import('./list-page.tsx')),
    'EvalsPage',
  ),
  suite: lazyRouteComponent(
    kept(() => import('./suite-page.tsx')),
    'EvalSuitePage',
  ),
  run: lazyRouteComponent(
    kept(() => import('./run-page.tsx')),
    'EvalRunPage',
  ),
};

/** The routes below `parent`, which is made before they are. */
export function evalRoutes(parent: typeof orgRoute) {
  const evals = createRoute({ getParentRoute: () => parent, path: '/evals', component: evalPages.evals });
  const suite = createRoute({
    getParentRoute: () => parent,
    path: '/evals/suites/$id',
    validateSearch: readEvalSuiteSearch,
    component: evalPages.suite,
  });
  const run = createRoute({
    getParentRoute: () => parent,
    path: '/evals/runs/$id',
    validateSearch: readEvalRunSearch,
    component: evalPages.run,
  });
  return [evals, suite, run] as const;
}
