import { useEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../../common/counted.ts'
import { request } from '../api.ts'
import { ActionButton } from '../components/action-button.ts'
import { LocalTime } from '../components/local-time.ts'
import { valueInto } from '../components/log-in.ts'
import { sentence } from '../components/sentence.ts'
import { html } from '../html.ts'
import { pageLocation, setFilter } from '../location.ts'
import { useConnectorLog } from '../log-follow.ts'
import { filterLines, LOG_LEVELS, type LogLine } from '../log-lines.ts'
import { pathSegment } from '../path-segment.ts'
import { useQuery } from '../queries.ts'
import { type Runtime, useRights } from '../session.ts'

type LogProps = { readonly runtime: Runtime; readonly name: string }

/** The last log lines of a connector and its tasks, and new ones as they are written. Level and search are in the URL. */
export function LogView({ runtime, name }: LogProps) {
  const { lines, missing, error } = useConnectorLog(
    `${runtime.basePath}/ui/api/connectors/${pathSegment(name)}/log`,
    name,
  )
  const { level = '', search = '' } = pageLocation.value.filters
  const isUnsupported = error.value?.status === 404
  // New lines come all the time: only what a search finds is announced.
  const question = `${level} ${search}`
  const announced = useRef(question)
  const isAnswer = announced.current !== question
  announced.current = question
  const shown = filterLines(lines.value ?? [], { level, search })
  return html`<section aria-labelledby="log">
    <h2 id="log">Log</h2>
    ${isUnsupported && html`<p>This runtime keeps no log for the console. Read the log of its processes.</p>`}
    ${error.value && !isUnsupported && html`<p class="error" role="alert">${error.value.message}</p>`}
    ${lines.value === undefined && !error.value && html`<p>Loading …</p>`}
    ${missing.value.map((reason) => html`<p key=${reason} class="error">Without ${reason}.</p>`)}
    ${
      lines.value &&
      html`<form class="filters" role="search" aria-label="Log" onSubmit=${(event: Event) => event.preventDefault()}>
        <label>Lowest level
          <select value=${level} onChange=${valueInto((value) => setFilter('level', value))}>
            <option value="">all</option>
            ${LOG_LEVELS.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
          </select></label>
        <label>Search the log <input type="search" value=${search} onInput=${valueInto((value) => setFilter('search', value))} /></label>
        <span role="status" aria-live=${isAnswer ? undefined : 'off'}>${shown.length.toLocaleString('en')} of ${counted(lines.value.length, 'line')}</span>
      </form>
      <${Lines} lines=${shown} isEmpty=${lines.value.length === 0} />`
    }
    <${LoggerLevels} runtime=${runtime} />
  </section>`
}

function Lines({ lines, isEmpty }: { readonly lines: readonly LogLine[]; readonly isEmpty: boolean }) {
  const element = useRef<HTMLOListElement>(null)
  const [follows, setFollows] = useState(true)
  useEffect(() => {
    if (follows && element.current) element.current.scrollTop = element.current.scrollHeight
  }, [lines, follows])
  return html`
    <ol class="log" ref=${element} tabindex="0" aria-label="Log lines">
      ${lines.length === 0 && html`<li>${isEmpty ? 'There are no lines yet.' : 'No line matches.'}</li>`}
      ${lines.map((line) => html`<${Line} key=${line.key} line=${line} />`)}
    </ol>
    <label class="check"><input type="checkbox" checked=${follows}
      onChange=${(event: Event) => setFollows((event.currentTarget as HTMLInputElement).checked)} /> Scroll to new lines</label>`
}

function Line({ line }: { readonly line: LogLine }) {
  const { time, level, task, message, details, worker, logger } = line
  const text = html`<${LocalTime} ms=${time} part="time" />
    <span class="level">${level}</span> ${task !== undefined && html`<span class="reason">task ${task}</span>`} <span>${message}</span>`
  return html`<li class=${level} title=${`${worker} ${logger}`}>${
    details
      ? html`<details><summary>${text}</summary><pre tabindex="0" role="group" aria-label="Details of the line">${details}</pre></details>`
      : text
  }</li>`
}

type Level = { readonly level: string; readonly last_modified: number | null }

/** The logger of the lines of native tasks. */
const TASK_LOGGER = 'weir.worker.tasks'
const SETTABLE = ['ERROR', 'WARN', 'INFO', 'DEBUG', 'TRACE', 'OFF'] as const

/** Which lines the workers write. Levels are those of loggers, so they apply to all connectors. */
function LoggerLevels({ runtime }: { readonly runtime: Runtime }) {
  const { data, error } = useQuery<Readonly<Record<string, Level>>>(`${runtime.basePath}/admin/loggers`)
  // The permission is for all connectors.
  const mayChange = useRights('connectors', '*')('loggers')
  const [chosen, setLogger] = useState(TASK_LOGGER)
  const [level, setLevel] = useState('')
  const levels = data.value
  if (levels === undefined)
    return html`<p class="reason">${
      error.value === undefined
        ? 'Loading the levels …'
        : `The level is not known: ${error.value.status === 404 ? 'loggers are set on another listener (admin.listeners)' : error.value.message}`
    }</p>`
  const logger = levels[chosen] === undefined ? 'root' : chosen
  const current = levels[logger]
  const next = level || (current?.level ?? '')
  const changed = current?.last_modified ? html`, changed <${LocalTime} ms=${current.last_modified} />` : ''
  return html`<h3>Level</h3>
    <p>${
      current?.level === 'OFF'
        ? html`The level is <strong>OFF</strong>: no line is written`
        : html`Lines of level <strong>${current?.level ?? 'unknown'}</strong> and above are written`
    } by <code>${logger}</code>${changed}.</p>
    ${
      mayChange &&
      html`<form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
        <label>Logger <select value=${logger} onChange=${valueInto(setLogger)}>
          ${Object.keys(levels).map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>
        <label>New level <select value=${next} onChange=${valueInto(setLevel)}>
          ${SETTABLE.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label>
        <${ActionButton} isDisabled=${next === current?.level} done=${sentence`Set the level of ${logger} to ${next}`}
          run=${() => request('PUT', `${runtime.basePath}/admin/loggers/${pathSegment(logger)}?scope=cluster`, { level: next })}
          question=${sentence`Set the level of ${logger} to ${next} for all connectors, on all workers of the group? It stays until it is set again or the workers are restarted.`}
          >Set the level<//>
      </form>`
    }`
}
