// Legal: versions of documents, what they say of us, and the list of sub-processors.
import '../../../pages/tickets/tickets.css';
import '../../../pages/settings/settings.css';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type LegalVersionRowFragment,
  StaffLegalDocument,
  type StaffLegalQuery,
} from '../../../api/gen/staff/graphql.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { ErrorBox } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { ListDialog } from './list-dialog.tsx';
import { PublishDialog } from './publish-dialog.tsx';
import { SettingCard } from './setting-card.tsx';

type Lists = NonNullable<StaffLegalQuery['subprocessors']>;

function Versions({ rows }: { rows: readonly LegalVersionRowFragment[] }) {
  return (
    <Table name="Versions">
      <thead>
        <tr>
          <th scope="col">Document</th>
          <th scope="col">In force from</th>
          <th scope="col">Published by</th>
          <th scope="col">Accepted by organizations</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={`${row.kind} ${row.version}`}>
            <td>
              <a className="link" href={row.url} target="_blank" rel="noreferrer">
                {row.title}
              </a>
              <div className="sub">
                {row.version}
                {row.telling && ', customers are being told'}
              </div>
            </td>
            <td className="soft">
              <Time at={row.effectiveAt} />
            </td>
            <td className="soft">{row.publishedBy}</td>
            <td>{row.requiresAcceptance ? row.accepted : 'not asked for'}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}

function Subprocessors(props: { list: Lists; may: boolean; onPublish: () => void }) {
  const { list, may, onPublish } = props;
  const { current, unlisted } = list;
  return (
    <Card title="Sub-processors" {...(current ? { note: `list of ${current.version}` } : {})}>
      <ul>
        {(current?.entries ?? []).map((entry) => (
          <li key={entry.id}>
            {entry.name}, {entry.location}: {entry.purpose}
          </li>
        ))}
      </ul>
      {unlisted.length > 0 && (
        <p className="sub">Of the catalog, without a notice of ours: {unlisted.join(', ')}.</p>
      )}
      {current?.pending && (
        <p className="sub">
          {current.pending.version} follows <Time at={current.pending.effectiveAt} />.
        </p>
      )}
      {may && <Button onClick={onPublish}>Publish the next list</Button>}
    </Card>
  );
}

export function StaffLegalPage() {
  const may = useMay('compliance');
  const [open, setOpen] = useState<'version' | 'list' | null>(null);
  const [said, setSaid] = useState('');
  const [{ data, error }, again] = useQuery({
    query: StaffLegalDocument,
    requestPolicy: 'cache-and-network',
  });
  const done = (words: string) => {
    setOpen(null);
    setSaid(words);
    again({ requestPolicy: 'network-only' });
  };
  const list = data?.subprocessors;
  const entries = list?.current?.entries ?? [];
  if (error && !data?.legalVersions)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  return (
    <>
      <PageHead
        title="Legal"
        actions={
          may && (
            <Button kind="primary" icon="plus" onClick={() => setOpen('version')}>
              Publish a version
            </Button>
          )
        }
      >
        <p role="status">{said || 'Texts of a release are templates: have counsel review them.'}</p>
      </PageHead>
      <div className="stack">
        <Card title="Documents" flush>
          <Versions rows={data?.legalVersions ?? []} />
        </Card>
        {may && data?.legalSetting && <SettingCard setting={data.legalSetting} onDone={done} />}
        {list && <Subprocessors list={list} may={may} onPublish={() => setOpen('list')} />}
      </div>
      {open === 'version' && <PublishDialog onClose={() => setOpen(null)} onDone={done} />}
      {open === 'list' && (
        <ListDialog
          present={entries
            .map((one) => [one.id, one.name, 'service', one.location, one.purpose].join('; '))
            .join('\n')}
          onClose={() => setOpen(null)}
          onDone={done}
        />
      )}
    </>
  );
}
