// Ways between the pages of staff. Links of the router are checked against the addresses of the customers' console.
import { useLocation, useRouter } from '@tanstack/react-router';
import type { ComponentPropsWithRef, MouseEvent } from 'react';

/** Opens a path of this console. */
export function useGo(): (path: string) => void {
  const { history } = useRouter();
  return (path) => history.push(path);
}

/** A link within this console; with a modifier, or the middle button, the browser opens it elsewhere. */
export function To({ href, onClick, ...rest }: ComponentPropsWithRef<'a'> & { href: string }) {
  const go = useGo();
  const { pathname } = useLocation();
  const press = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(href);
  };
  const current = pathname === href ? 'page' : undefined;
  return <a aria-current={current} {...rest} href={href} onClick={press} />;
}
