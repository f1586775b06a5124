// What the page of credits shows below the balance: one list at a time, chosen in the address.
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { useOrg } from '../../app/org.tsx';
import type { CreditsView } from '../../app/search.ts';
import { GivenView } from './given/view.tsx';
import { LotsCard } from './lots-card.tsx';
import { MovementsCard } from './movements-card.tsx';
import { PlanView } from './plan/view.tsx';
import { ReconciliationCard } from './reconciliation-card.tsx';

const words: Readonly<Record<CreditsView, string>> = {
  movements: 'Movements',
  lots: 'Lots',
  reconciliation: 'Reconciliation',
  gifts: 'Gifts and codes',
  plan: 'Plan',
};

/** Gifts and the fee of a plan are of live credit. */
export const liveViews: ReadonlySet<CreditsView> = new Set(['gifts', 'plan']);

/** A link to the same page with another view is not the present one. */
const EXACT = { exact: true, includeSearch: true } as const;

/** The choice; the top-ups of live credit come first and are no part of the address. */
function Choice({ view }: { view: CreditsView | undefined }) {
  const { slug, env } = useOrg();
  const params = { org: slug, env };
  const shown = (Object.keys(words) as CreditsView[]).filter(
    (each) => env === 'live' || !liveViews.has(each),
  );
  const nav = useRef<HTMLElement>(null);
  // On a phone the choice is wider than the screen: what is chosen comes into sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page marks what is chosen after `view` has changed
  useEffect(() => {
    const chosen = nav.current?.querySelector('[aria-current="page"]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [view]);
  return (
    <nav className="views" aria-label="Views of credits" ref={nav}>
      {env === 'live' && (
        <Link
          to="/$org/$env/credits"
          params={params}
          search={{}}
          activeOptions={EXACT}
          aria-current={view === undefined ? 'page' : undefined}
          replace
        >
          Top-ups
        </Link>
      )}
      {shown.map((each) => (
        <Link
          key={each}
          to="/$org/$env/credits"
          params={params}
          search={{ view: each }}
          activeOptions={EXACT}
          aria-current={view === each ? 'page' : undefined}
          replace
        >
          {words[each]}
        </Link>
      ))}
    </nav>
  );
}

function View({ view, onChanged }: { view: CreditsView; onChanged: () => void }) {
  switch (view) {
    case 'movements':
      return <MovementsCard />;
    case 'lots':
      return <LotsCard />;
    case 'reconciliation':
      return <ReconciliationCard />;
    case 'gifts':
      return <GivenView onChanged={onChanged} />;
    case 'plan':
      return <PlanView onChanged={onChanged} />;
  }
}

/** The choice and what was chosen; `first` is shown where the address names nothing. */
export function Views({
  view,
  first,
  onChanged,
}: {
  view: CreditsView | undefined;
  first?: ReactNode;
  onChanged: () => void;
}) {
  return (
    <>
      <Choice view={view} />
      {view === undefined ? first : <View view={view} onChanged={onChanged} />}
    </>
  );
}
