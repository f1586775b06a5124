// The versions of a policy: number, who, when, and where one is active.
import { Link } from '@tanstack/react-router';
import { useOrg } from '../../app/org.tsx';
import { Card } from '../../ui/card.tsx';
import { Time } from '../../ui/time.tsx';
import type { PolicyShown } from './policy-page.tsx';
import { scopeText, sourceText } from './words.ts';

export function VersionsCard({ shown, chosen }: { shown: PolicyShown; chosen: number }) {
  const { slug, env } = useOrg();
  const { row, versions, projects } = shown;
  return (
    <Card title="Versions" note="A version never changes." flush>
      <ol className="policy-versions" aria-label="Versions">
        {versions.map((version) => {
          const active = row.scopes.filter((scope) => scope.version === version.version);
          return (
            <li key={version.version}>
              <Link
                to="/$org/$env/policies/$name"
                params={{ org: slug, env, name: row.name }}
                search={{ version: version.version }}
                aria-current={version.version === chosen ? 'true' : undefined}
              >
                <b>Version {version.version}</b>
                {active.length > 0 && (
                  <span className="policy-active">
                    {active.map(({ projectId }) => scopeText(projectId, projects)).join(', ')}
                  </span>
                )}
                <span className="sub">
                  {sourceText(version)}, <Time at={version.createdAt} />
                </span>
              </Link>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
