// Single sign-on of the organisation: mail domains first, then the identity provider, then the directory.
import './sign-on.css';
import { useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { SignOnDocument } from '../../api/gen/tools/graphql.ts';
import { PageHead } from '../../ui/card.tsx';
import { ErrorBox } from '../../ui/states.tsx';
import { ConnectionCard } from './connection-card.tsx';
import { DirectoryCard } from './directory-card.tsx';
import { DomainsCard } from './domains-card.tsx';

export function SignOnPage() {
  const [{ data, error }, read] = useQuery({ query: SignOnDocument, requestPolicy: 'cache-and-network' });
  const [said, setSaid] = useState('');
  const again = () => read({ requestPolicy: 'network-only' });
  const onDone = (words: string) => {
    setSaid(words);
    again();
  };
  const facts = data?.sso ?? undefined;
  const refusal = error && !facts ? faultOfQuery(error) : null;
  return (
    <>
      <PageHead title="Single sign-on">
        <p role="status">
          {said || 'People sign in at your own identity provider instead of with a password.'}
        </p>
      </PageHead>
      <div className="stack">
        {refusal ? (
          <div className="card">
            <ErrorBox fault={refusal} onRetry={again} />
          </div>
        ) : (
          <>
            <DomainsCard rows={facts?.domains} onDone={onDone} />
            <ConnectionCard facts={facts} onDone={onDone} />
            <DirectoryCard facts={facts} onDone={onDone} />
          </>
        )}
      </div>
    </>
  );
}
