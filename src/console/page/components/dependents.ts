import { useEffect, useState } from 'preact/hooks'
import { html } from '../html.ts'
import type { VersionName } from '../reference-graph.ts'
import type { Runtime } from '../session.ts'
import { findReferrers } from '../subject-versions.ts'

export type DependentsProps = { readonly runtime: Runtime; readonly of: readonly VersionName[] }

/** Each version needs requests of its own. */
const VERSIONS_MAX = 100
const SHOWN_MAX = 20

/** Names what refers to versions that shall be deleted. Referrers of the same subject are deleted with them. */
export function Dependents({ runtime, of }: DependentsProps) {
  const [found, setFound] = useState<readonly VersionName[] | string>()
  const key = JSON.stringify(of)
  useEffect(() => {
    let isShown = true
    findAll(runtime.basePath, of).then(
      (all) => isShown && setFound(all),
      (error) => isShown && setFound(error instanceof Error ? error.message : String(error)),
    )
    return () => {
      isShown = false
    }
  }, [runtime.basePath, key])
  if (found === undefined) return html`<p role="status">Looking for what depends on it …</p>`
  if (typeof found === 'string') return html`<p class="error" role="alert">What depends on it is unknown: ${found}</p>`
  const unchecked = of.length - VERSIONS_MAX
  return html`<div role="status">
    ${
      found.length === 0
        ? html`<p>No schema of another subject refers to it.</p>`
        : html`<p>The registry refuses this while these refer to it:</p>
          <ul>${found
            .slice(0, SHOWN_MAX)
            .map(
              ({ subject, version }) =>
                html`<li key=${`${subject} ${version}`}><bdi>${subject}</bdi> version ${version}</li>`,
            )}
          ${found.length > SHOWN_MAX && html`<li>${found.length - SHOWN_MAX} more</li>`}</ul>`
    }
    ${unchecked > 0 && html`<p>${unchecked} older versions were not checked for references.</p>`}
  </div>`
}

async function findAll(basePath: string, of: readonly VersionName[]): Promise<readonly VersionName[]> {
  const all: VersionName[] = []
  for (const one of of.slice(-VERSIONS_MAX)) {
    for (const referrer of await findReferrers(basePath, one)) {
      const isKnown = all.some(({ subject, version }) => subject === referrer.subject && version === referrer.version)
      const isDeletedWithIt = of.length > 1 && referrer.subject === one.subject
      if (!isKnown && !isDeletedWithIt) all.push(referrer)
    }
  }
  return all
}
