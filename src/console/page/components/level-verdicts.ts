import { html } from '../html.ts'
import { type LevelVerdict, levelVerdicts, type VersionComparison } from '../level-verdicts.ts'
import { subjectSegment } from '../path-segment.ts'
import { useOnDemandQuery, useQuery } from '../queries.ts'
import type { Runtime } from '../session.ts'

type LevelVerdictsProps = {
  readonly runtime: Runtime
  readonly subject: string
  readonly older: number
  readonly newer: number
}

/** Whether each compatibility level permits the newer version after the older one, and why not. A registry of another vendor does not say it. */
export function LevelVerdicts({ runtime, subject, older, newer }: LevelVerdictsProps) {
  const { basePath } = runtime
  const path = `${basePath}/ui/api/subjects/${subjectSegment(subject)}/comparison?from=${older}&to=${newer}`
  const { data, error } = useOnDemandQuery<VersionComparison>(path)
  const level = useQuery<{ readonly compatibilityLevel?: string }>(
    `${basePath}/config/${subjectSegment(subject)}?defaultToGlobal=true`,
    { kind: 'subject', name: subject },
  )
  if (error.value)
    return error.value.status === 404 ? null : html`<p class="error" role="alert">${error.value.message}</p>`
  if (data.value === undefined) return html`<p>Loading …</p>`
  const inForce = level.data.value?.compatibilityLevel
  return html`<h3>What each compatibility level says of version ${newer} after ${older}</h3>
    <ul class="verdicts">${levelVerdicts(data.value).map(
      (verdict) => html`<${Verdict} key=${verdict.level} verdict=${verdict} inForce=${inForce} />`,
    )}</ul>`
}

type VerdictProps = { readonly verdict: LevelVerdict; readonly inForce: string | undefined }

function Verdict({ verdict: { level, isPermitted, meaning, reasons }, inForce }: VerdictProps) {
  const isInForce = inForce === level || inForce === `${level}_TRANSITIVE`
  return html`<li>
    <strong class=${isPermitted ? 'good' : 'bad'}>${level} ${isPermitted ? 'permits it' : 'refuses it'}</strong>
    ${' '}<span class="reason">(${meaning})</span>${isInForce && ` The level in force is ${inForce}.`}
    ${reasons.length > 0 && html`<ul class="names" tabindex="0" aria-label=${`Reasons of ${level}`}>${reasons.map((reason) => html`<li key=${reason}>${reason}</li>`)}</ul>`}
  </li>`
}
