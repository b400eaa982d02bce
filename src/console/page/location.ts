import { computed, signal } from '@preact/signals'
import { pathSegment } from './path-segment.ts'

/** What the URL of the page selects: a path such as `['connectors', 'orders']`, and filters. It is all state of views. */
export type PageLocation = { readonly path: readonly string[]; readonly filters: Readonly<Record<string, string>> }

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

/** The location that is shown. */
export const pageLocation = computed(() => parseLocation(hash.value))

export function parseLocation(text: string): PageLocation {
  const [path = '', query = ''] = text.replace(/^#?\/?/, '').split('?', 2)
  return {
    path: path.split('/').filter(Boolean).map(decode),
    filters: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** The `href` of a location. Empty filters are left out. */
export function hrefOf(path: readonly string[], filters: PageLocation['filters'] = {}): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''))
  return `#/${path.map(pathSegment).join('/')}${query.size > 0 ? `?${query}` : ''}`
}

/** Changes a filter of the view without a new entry in the history. */
export function setFilter(name: string, value: string): void {
  const { path, filters } = pageLocation.value
  history.replaceState(null, '', hrefOf(path, { ...filters, [name]: value }))
  hash.value = location.hash
}

/** People edit URLs: what is not an encoding is taken as it is. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
