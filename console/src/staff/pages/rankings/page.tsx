// Rankings: the apps that they can name, those that are kept out and why, and when the figures were made.
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import {
  ExcludeAppDocument,
  PublishedFiguresDocument,
  PublishFiguresDocument,
  type RankedAppFragment,
  RankedAppsDocument,
  RestoreAppDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { PageHead } from '../../../ui/card.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { WaitingCard } from '../waiting-card.tsx';

const PAGE = 20;
type Row = RankedAppFragment;
type Act = { readonly row: Row; readonly excludes: boolean } | 'publish';

function standingOf({ excludedAt, public: is_public }: Row) {
  if (excludedAt) return { tone: 'warn', word: 'kept out' } as const;
  return is_public
    ? ({ tone: 'ok', word: 'ranked' } as const)
    : ({ tone: 'mute', word: 'not public' } as const);
}

function App({ row, onAct }: { row: Row; onAct: (act: Act) => void }) {
  const may = useMay('support', 'compliance');
  const { tone, word } = standingOf(row);
  const excludes = !row.excludedAt;
  const verb = excludes ? 'Keep out' : 'Let in again';
  return (
    <li className="item">
      <div className="item-head">
        <h3>
          {row.name} <code>{row.slug}</code>
        </h3>
        <span className="sub">
          <Status tone={tone}>{word}</Status> of {row.orgSlug}
          {row.category && `, ${row.category}`}
          {row.url && `, ${row.url}`}, first seen <Time at={row.firstSeenAt} />
        </span>
      </div>
      {row.excludedAt && (
        <p className="soft">
          “{row.excludedReason}”, since <Time at={row.excludedAt} />
        </p>
      )}
      <div className="row wrap">
        {may && (
          <Button aria-label={`${verb}: ${row.name}`} onClick={() => onAct({ row, excludes })}>
            {verb}…
          </Button>
        )}
        <To className="btn" href={`/orgs/${row.orgSlug}`} aria-label={`Open the organization of ${row.name}`}>
          Open the organization
        </To>
      </div>
    </li>
  );
}

function ActDialog({
  act,
  onClose,
  onDone,
}: {
  act: Act;
  onClose: () => void;
  onDone: (said: string) => void;
}) {
  const mutate = useMutate();
  const words = { label: 'Reason', hint: 'Stands in the audit log.', needed: true };
  if (act === 'publish') {
    return (
      <DecideDialog
        title="Make the figures anew?"
        note="Rankings and the figures of models are made within seconds, and not only with the next ten minutes."
        words={words}
        verb="Make them anew"
        send={(_form, reason) => mutate(PublishFiguresDocument, { reason })}
        onClose={onClose}
        onDone={() => onDone('New figures are being made.')}
      />
    );
  }
  const { row, excludes } = act;
  const { slug } = row;
  return (
    <DecideDialog
      title={excludes ? `Keep ${row.name} out of the rankings?` : `Let ${row.name} into the rankings again?`}
      note={
        excludes
          ? 'Within seconds no ranking and no model names it. Its calls count in totals, and its own page stays.'
          : 'Rankings and models name it again, as long as its organization shows it.'
      }
      words={words}
      verb={excludes ? 'Keep it out' : 'Let it in again'}
      danger={excludes}
      send={(_form, reason) =>
        excludes ? mutate(ExcludeAppDocument, { slug, reason }) : mutate(RestoreAppDocument, { slug, reason })
      }
      onClose={onClose}
      onDone={() => onDone(excludes ? `${row.name} is kept out.` : `${row.name} is let in again.`)}
    />
  );
}

function Published() {
  const [{ data }] = useQuery({ query: PublishedFiguresDocument });
  const figures = data?.publishedFigures;
  if (!figures) return null;
  return (
    <>
      {figures.refreshedAt ? (
        <>
          {' '}
          Figures of <Time at={figures.refreshedAt} />
        </>
      ) : (
        ' No figures have been made yet'
      )}
      {figures.waiting ? '; new ones are being made.' : '.'}
    </>
  );
}

export function RankingsPage() {
  const client = useClient();
  const may = useMay('support', 'compliance');
  const [{ data, error }, again] = useQuery({ query: RankedAppsDocument, variables: { first: PAGE } });
  const [act, setAct] = useState<Act | null>(null);
  const [said, setSaid] = useState('');
  const reread = () => again({ requestPolicy: 'network-only' });
  const { rows, ...older } = useOlder(data?.rankedApps, async (after) => {
    const { data: page, error } = await client.query(RankedAppsDocument, { first: PAGE, after }).toPromise();
    return { page: page?.rankedApps, error };
  });
  return (
    <>
      <PageHead
        title="Rankings"
        actions={may ? <Button onClick={() => setAct('publish')}>Make figures anew…</Button> : null}
      >
        <p role="status">
          {said || 'Apps that everybody can see by name.'}
          <Published key={said} />
        </p>
      </PageHead>
      <WaitingCard
        {...{ title: 'Apps', what: 'apps', rows, older, error, onRetry: reread, order: 'newest' }}
        empty={['No app shows itself', 'Organizations decide that for each of theirs.']}
      >
        {(rows) => (
          <ul className="items">
            {rows.map((row) => (
              <App key={row.slug} row={row} onAct={setAct} />
            ))}
          </ul>
        )}
      </WaitingCard>
      {act && (
        <ActDialog
          act={act}
          onClose={() => setAct(null)}
          onDone={(words) => {
            setAct(null);
            setSaid(words);
            reread();
          }}
        />
      )}
    </>
  );
}
