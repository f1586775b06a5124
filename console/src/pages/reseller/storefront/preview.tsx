// What customers will see of a storefront, in both themes, while it is being typed.
import { useEffect, useRef } from 'react';
// The one formula of readable colours: what is shown here is what every customer gets.
import { accentColors } from '../../../../../core/storefronts/color.ts';

interface Looks {
  readonly name: string;
  /** Where the present logo is served; null: the name alone. */
  readonly logo: string | null;
  /** `#rrggbb`. */
  readonly color: string;
}

function Look({
  theme,
  accent,
  name,
  logo,
}: { theme: 'light' | 'dark'; accent: string } & Omit<Looks, 'color'>) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Set through the object model: the policy of the page allows no style attribute.
    place.current?.style.setProperty('--shop-accent', accent);
  }, [accent]);
  return (
    <figure className="shop-look" data-look={theme} ref={place}>
      <figcaption className="sub">
        {theme === 'light' ? 'Light' : 'Dark'}: <span className="mono">{accent}</span>
      </figcaption>
      <div className="shop-page">
        <p className="shop-head">
          {logo !== null && <img src={logo} alt="" height={28} />}
          <strong>{name}</strong>
        </p>
        <p>
          Sign in to {name}, or <span className="shop-link">read the terms</span>.
        </p>
        <span className="shop-button">Sign in</span>
      </div>
    </figure>
  );
}

export function Preview({ name, logo, color }: Looks) {
  const { accent_light, accent_dark } = accentColors(color);
  const is_moved = [accent_light, accent_dark].some((accent) => accent !== color.toLowerCase());
  return (
    <section aria-label="Preview" className="shop-preview">
      <div className="shop-looks">
        <Look theme="light" accent={accent_light} {...{ name, logo }} />
        <Look theme="dark" accent={accent_dark} {...{ name, logo }} />
      </div>
      <p className="sub" role="status">
        {is_moved
          ? 'The colour is moved as far as it must be for text in it and on it to be read.'
          : 'The colour can be read as it is.'}
      </p>
    </section>
  );
}
