import { type Assignment, type MemberIdentity, urlOf } from './group-protocol.ts'

export type ElectionCandidate = { readonly memberId: string; readonly identity: MemberIdentity }

/**
 * Elects the eligible member with the smallest URL; with `sticky`, keeps the current leader if exactly one eligible
 * member claims to be it. No leader without an eligible member, nor, with `error` 1, if two members have the same URL.
 */
export function electLeader(candidates: readonly ElectionCandidate[], sticky: boolean): Assignment {
  const urls = candidates.map(({ identity }) => urlOf(identity))
  if (new Set(urls).size < urls.length) return { version: 1, error: 1, master: null, master_identity: null }
  const eligible = candidates
    .filter(({ identity }) => identity.master_eligibility)
    .sort((a, b) => (urlOf(a.identity) < urlOf(b.identity) ? -1 : 1))
  const leading = eligible.filter(({ identity }) => identity.leader === true)
  const chosen = sticky && leading.length === 1 ? leading[0] : eligible[0]
  return {
    version: 1,
    error: 0,
    master: chosen?.memberId ?? null,
    master_identity: chosen?.identity ?? null,
  }
}
