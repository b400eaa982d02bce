import { useState } from 'preact/hooks'
import { request } from '../api.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { type LiveQuery, useQuery } from '../queries.ts'
import {
  definingScope,
  GLOBAL_SCOPE,
  LEVEL_MEANINGS,
  MODE_MEANINGS,
  type RegistryScope,
  scopesOf,
} from '../registry-scopes.ts'
import { type Runtime, useRights } from '../session.ts'
import { ActionButton } from './action-button.ts'
import { valueInto } from './log-in.ts'
import { sentence } from './sentence.ts'

type Config = { readonly compatibilityLevel?: string; readonly [key: string]: unknown }
type Mode = { readonly mode?: string }

/** The compatibility level and mode of a subject, or of a context such as `:.team:`, or of all subjects (empty). */
export function ScopeSettings({ runtime, subject }: { readonly runtime: Runtime; readonly subject: string }) {
  const scopes = scopesOf(subject || ':.:')
  // Only who may change all contexts may change what they inherit.
  const may = useRights('subjects', subject || ':.__GLOBAL:')
  const configs = scopes.map(({ suffix }) =>
    useQuery<Config>(`${runtime.basePath}/config${suffix}`, { kind: 'subject' }),
  )
  const modes = scopes.map(({ suffix }) => useQuery<Mode>(`${runtime.basePath}/mode${suffix}`, { kind: 'subject' }))
  const [{ kind, suffix, title } = GLOBAL_SCOPE] = scopes
  const inForce = `${suffix}?defaultToGlobal=true`
  const config = useQuery<Config>(`${runtime.basePath}/config${inForce}`, { kind: 'subject' })
  const mode = useQuery<Mode>(`${runtime.basePath}/mode${inForce}`, { kind: 'subject' })
  const levels = configs.map((query) => ownValue(query)?.compatibilityLevel)
  const ownModes = modes.map((query) => ownValue(query)?.mode)
  const { compatibilityLevel, ...others } = config.data.value ?? {}
  const put = (kind: 'config' | 'mode') => (body: object) =>
    request('PUT', `${runtime.basePath}/${kind}${suffix}`, body)
  const remove = (kind: 'config' | 'mode') => () => request('DELETE', `${runtime.basePath}/${kind}${suffix}`)
  return html`<section aria-label=${`Compatibility and mode of ${title}`}>
    <h2>Compatibility and mode <small>${title}</small></h2>
    <${Setting} title="Compatibility level" what=${title} choices=${LEVEL_MEANINGS} value=${compatibilityLevel}
      error=${config.error.value?.message} own=${levels[0]} isGlobal=${suffix === ''} isPermitted=${may('config')}
      from=${definingScope(scopes, levels)} runtime=${runtime} remove=${remove('config')} asks=${kind !== 'subject'}
      set=${(compatibility: string) => put('config')({ compatibility })} />
    ${
      Object.keys(others).length > 0 &&
      html`<details><summary>Other settings in effect</summary>
        <pre tabindex="0" role="group" aria-label="Other settings in effect">${JSON.stringify(others, null, 2)}</pre></details>`
    }
    <${Setting} title="Mode" what=${title} choices=${MODE_MEANINGS} value=${mode.data.value?.mode} error=${mode.error.value?.message}
      own=${ownModes[0]} isGlobal=${suffix === ''} isPermitted=${may('mode')} from=${definingScope(scopes, ownModes)}
      runtime=${runtime} remove=${remove('mode')} asks=${true} set=${(value: string) => put('mode')({ mode: value })} />
  </section>`
}

/** A scope without a value of its own has 404. The last data are those of before the value was removed. */
function ownValue<Data>({ data, error }: LiveQuery<Data>): Data | undefined {
  return error.value === undefined ? data.value : undefined
}

type SettingProps = {
  readonly title: string
  readonly what: string
  readonly choices: Readonly<Record<string, string>>
  readonly value: string | undefined
  readonly own: string | undefined
  readonly from: RegistryScope | undefined
  readonly error: string | undefined
  readonly isGlobal: boolean
  readonly isPermitted: boolean
  /** Whether a change is confirmed. The level of one subject is changed back as easily. */
  readonly asks: boolean
  readonly runtime: Runtime
  readonly set: (value: string) => Promise<unknown>
  readonly remove: () => Promise<unknown>
}

function Setting(props: SettingProps) {
  const { title, what, choices, value, own, from, error, isGlobal, isPermitted, asks } = props
  const [chosen, choose] = useState<string>()
  const next = chosen ?? value ?? ''
  const name = title.toLowerCase()
  const object = `the ${name} of ${what}`
  return html`<h3>${title}</h3>
    ${error !== undefined && html`<p class="error" role="alert">${error}</p>`}
    <p><strong class=${value === 'IMPORT' ? 'waiting' : ''}>${value ?? '…'}</strong>${value && choices[value] && `: ${choices[value]}.`}
      ${own === undefined && from !== undefined && html` Inherited from <${ScopeLink} runtime=${props.runtime} scope=${from} />.`}
      ${own !== undefined && !isGlobal && ` Set for ${what}.`}</p>
    ${
      isPermitted &&
      html`<div class="filters">
        <label>Change the ${name} to
          <select value=${next} onChange=${valueInto(choose)}>
            ${Object.keys(choices).map((choice) => html`<option key=${choice} value=${choice}>${choice}</option>`)}
          </select>
        </label>
        <${ActionButton} object=${object} isDisabled=${next === '' || next === own} run=${() => props.set(next)}
          done=${sentence`Set the ${name} of ${what} to ${next}`}
          question=${
            !asks
              ? undefined
              : html`<p>Set the ${name} of <bdi>${what}</bdi> to ${next}: ${choices[next]}?</p>
            ${
              next === 'IMPORT' &&
              html`<p>The registry refuses it while there are schemas in <bdi>${what}</bdi>, and permanently deletes the soft-deleted ones.
                End the window with READWRITE.</p>`
            }
            ${isGlobal && html`<p>It applies to all subjects and contexts without a ${name} of their own.</p>`}`
          }
          >Change<//>
        ${
          own !== undefined &&
          !isGlobal &&
          html`<${ActionButton} object=${object} run=${props.remove} done=${sentence`Removed the ${name} of ${what}`}
            question=${sentence`Remove the ${name} ${own} of ${what}? Then it is inherited.`}>Inherit<//>`
        }
      </div>`
    }`
}

function ScopeLink({ runtime, scope }: { readonly runtime: Runtime; readonly scope: RegistryScope }) {
  const context = scope.kind === 'context' ? scope.title.replace('context ', '') : ''
  const filters = { runtime: runtime.name, settings: 'true', context }
  return html`<a href=${hrefOf(['subjects'], filters)}>${scope.title}</a>`
}
