import { API_VERSION } from '../../../common/resource-api.ts'
import { html } from '../html.ts'
import { hrefOf } from '../location.ts'
import { type Runtime, useSession } from '../session.ts'
import { CopiedText } from './copied-text.ts'

type FirstStepProps = { readonly of: 'connectors' | 'subjects' | 'topics' | 'resources'; readonly runtime?: Runtime }

/** What to do while a list is empty, with a command that works when it is pasted into a shell. */
export function FirstStep({ of, runtime }: FirstStepProps) {
  const { user = null, hasResources = false } = useSession().data.value ?? {}
  const login = user === null ? '' : ' -u USER'
  const call = (method: string, path: string, body: object) =>
    `curl${login} -X ${method} -H 'content-type: application/json' '${urlOf(runtime, path)}' -d '${JSON.stringify(body)}'`
  if (of === 'connectors')
    return html`<section aria-label="First connector">
      <p>There is no connector yet. <a href=${hrefOf(['new-connector'], { runtime: runtime?.name ?? '' })}>Create one with the form</a>,
        ${' '}or with this command, which writes ten generated orders a second into the topic first-orders:</p>
      <${CopiedText} name="Command" purpose="for the first connector" text=${call('PUT', 'connectors/first-orders/config', FIRST_CONNECTOR)} />
    </section>`
  if (of === 'topics')
    return html`<section aria-label="First topic">
      <p>There is no topic yet. A source connector creates the topics that it writes, such as this one:</p>
      <${CopiedText} name="Command" purpose="for the first topic" text=${call('PUT', 'connectors/first-orders/config', FIRST_CONNECTOR)} />
    </section>`
  if (of === 'subjects')
    return html`<section aria-label="First subject">
      <p>There is no subject yet. Producers register schemas when they write, or register one with this command:</p>
      <${CopiedText} name="Command" purpose="for the first subject" text=${call('POST', 'subjects/first-orders-value/versions', FIRST_SCHEMA)} />
    </section>`
  return html`<section aria-label="First resource">
    <p>No resource is declared yet. Pass this on to kubectl apply -f -, or with weir up, append it to a file of the directory:</p>
    <${CopiedText} name="Command" purpose="for the first resource" text=${FIRST_RESOURCE} />
    ${hasResources && html`<p>A connector that runs shows its manifest, so that what exists can be declared as it is.</p>`}
  </section>`
}

const FIRST_CONNECTOR = {
  'connector.class': 'Datagen',
  'kafka.topic': 'first-orders',
  quickstart: 'orders',
  'max.interval': '100',
  'value.converter': 'JsonConverter',
  'value.converter.schemas.enable': 'false',
}
const FIRST_SCHEMA = {
  schema: '{"type":"record","name":"FirstOrder","fields":[{"name":"id","type":"long"}]}',
}
const FIRST_RESOURCE = `printf '%s\\n' 'apiVersion: ${API_VERSION}' 'kind: Subject' 'metadata: {name: first-orders-value}' 'spec: {schema: "\\"string\\""}'`

/** An absolute URL, quoted for a shell. */
function urlOf(runtime: Runtime | undefined, path: string): string {
  const base = (runtime?.basePath ?? '').replace(/^\//, '')
  return new URL(`${base === '' ? '' : `${base}/`}${path}`, new URL('.', document.baseURI)).href.replaceAll("'", '%27')
}
