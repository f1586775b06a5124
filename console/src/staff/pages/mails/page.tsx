// Mails: whether one has gone, to whom and about what.
import { useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import { type MailRowFragment, StaffMailsDocument } from '../../../api/gen/staff/graphql.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Status, type Tone } from '../../../ui/status.tsx';
import { Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To, useGo } from '../../go.tsx';
import { readFindSearch } from '../../search.ts';

const PAGE = 50;

const tones: Readonly<Record<string, Tone>> = {
  queued: 'warn',
  sending: 'warn',
  sent: 'ok',
  bounced: 'bad',
  failed: 'bad',
  dropped: 'mute',
};

function Line({ row }: { row: MailRowFragment }) {
  return (
    <tr>
      <td className="soft">
        <Time at={row.createdAt} />
      </td>
      <td>{row.recipient}</td>
      <td>{row.template.replaceAll('_', ' ')}</td>
      <td>
        <Status tone={tones[row.status] ?? 'mute'}>{row.status}</Status>
      </td>
      <td className="soft">
        <Time at={row.sentAt} never="not sent" />
      </td>
      <td className="soft mail-answer" title={row.answer}>
        {row.answer === '' ? '–' : row.answer}
      </td>
      <td className="mono soft">{row.reference}</td>
      <td>
        {row.orgId ? (
          <To className="link" href={`/orgs/${row.orgId}`} aria-label={`Open the organization of ${row.id}`}>
            open
          </To>
        ) : (
          <span className="faint">a person</span>
        )}
      </td>
      <td>
        <IdText id={row.id} short />
      </td>
    </tr>
  );
}

function Found({ q }: { q: string }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({ query: StaffMailsDocument, variables: { q, first: PAGE } });
  const { rows, ...older } = useOlder(data?.mails, async (after) => {
    const { data: page, error } = await client
      .query(StaffMailsDocument, { q, first: PAGE, after })
      .toPromise();
    return { page: page?.mails, error };
  });
  return (
    <Card title="Mails" flush>
      {error && !data?.mails && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {rows?.length === 0 && (
        <Empty title={`No mail for “${q}”`}>Mails are kept for a while after they have gone.</Empty>
      )}
      {!error && (rows === undefined || rows.length > 0) && (
        <>
          <Table name="Mails found" busy={rows === undefined}>
            <thead>
              <tr>
                <th scope="col">Asked for</th>
                <th scope="col">To</th>
                <th scope="col">Mail</th>
                <th scope="col">State</th>
                <th scope="col">Sent</th>
                <th scope="col">Answer</th>
                <th scope="col">About</th>
                <th scope="col">Organization</th>
                <th scope="col">Id</th>
              </tr>
            </thead>
            <tbody>
              {rows === undefined ? (
                <BoneRows rows={3} columns={9} />
              ) : (
                rows.map((row) => <Line key={row.id} row={row} />)
              )}
            </tbody>
          </Table>
          <OlderFoot shown={rows?.length ?? 0} what="mails" {...older} />
        </>
      )}
    </Card>
  );
}

export function MailsPage() {
  const { q } = readFindSearch(useSearch({ strict: false }));
  const go = useGo();
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('q') ?? '').trim();
    setWrong(text === '');
    if (text !== '') go(`/mails?q=${encodeURIComponent(text)}`);
  };
  return (
    <>
      <PageHead title="Mails">
        <p>By address, by organization, by what a mail is about, or by its id.</p>
      </PageHead>
      <div className="stack">
        <form className="staff-find" onSubmit={submit}>
          <input
            key={q ?? ''}
            name="q"
            className="input"
            aria-label="Whose mails"
            aria-invalid={wrong || undefined}
            placeholder="asha@acme.example"
            defaultValue={q ?? ''}
            autoComplete="off"
            spellCheck={false}
            maxLength={254}
          />
          <Button type="submit" kind="primary" icon="search">
            Find
          </Button>
        </form>
        {q !== undefined && <Found q={q} />}
      </div>
    </>
  );
}
