/** The title of the window: what the page shows, the most specific part first. */
export function pageTitle([view = 'overview', name, section]: readonly string[]): string {
  const parts = [section && words(section), name, words(view), 'Weir']
  return parts.filter(Boolean).join(' – ')
}

/** `dead-letters` as `Dead letters`. */
function words(part: string): string {
  return `${part.slice(0, 1).toUpperCase()}${part.slice(1).replaceAll('-', ' ')}`
}
