import { render } from 'preact'
import { logOut, needsLogIn } from './api.ts'
import { KeyboardShortcuts } from './components/keyboard-shortcuts.ts'
import { LogIn } from './components/log-in.ts'
import { Notices } from './components/notices.ts'
import { followEvents, isLive } from './event-stream.ts'
import { manageFocus } from './focus-management.ts'
import { html } from './html.ts'
import { hrefOf, pageLocation } from './location.ts'
import { type ConsoleSession, type Runtime, RuntimeContext, useSession } from './session.ts'
import { ConnectorView } from './views/connector.ts'
import { ConnectorCreation } from './views/connector-creation.ts'
import { ConnectorList } from './views/connector-list.ts'
import { Overview } from './views/overview.ts'
import { ResourceList } from './views/resources.ts'
import { SubjectView } from './views/subject.ts'
import { SubjectList } from './views/subject-list.ts'
import { TopicView } from './views/topic.ts'
import { TopicList } from './views/topic-list.ts'
import { Topology } from './views/topology.ts'

/** The views by the first part of the path. Each gets the runtime of its kind and the rest of the path. */
function Content({ session }: { readonly session: ConsoleSession }) {
  const { path, filters } = pageLocation.value
  const [view = '', name] = path
  const runtime = (kind: Runtime['kind']) => {
    const ofKind = session.runtimes.filter((one) => one.kind === kind)
    return ofKind.find((one) => one.name === filters['runtime']) ?? ofKind[0]
  }
  const [worker, registry] = [runtime('worker'), runtime('registry')]
  const workers = session.runtimes.filter(({ kind }) => kind === 'worker')
  // A view that reads all workers has the same queries as long as it is shown.
  const workersKey = workers.map(({ basePath }) => basePath).join(' ')
  if (view === '') return html`<${Overview} session=${session} />`
  if (view === 'resources' && session.hasResources) return html`<${ResourceList} />`
  if ((view === 'connectors' || view === 'topics') && worker) {
    return html`<${RuntimeContext.Provider} value=${worker}>
      <${WorkerObject} view=${view} name=${name} runtime=${worker} />
    <//>`
  }
  if (view === 'graph' && worker)
    return html`<${Topology} key=${worker.basePath} runtime=${worker} registry=${registry} />`
  if (view === 'new-connector' && worker) return html`<${ConnectorCreation} runtime=${worker} />`
  if (view === 'subjects' && registry) {
    return html`<${RuntimeContext.Provider} value=${registry}>
      ${
        name === undefined
          ? html`<${SubjectList} key=${workersKey} runtime=${registry} workers=${workers} />`
          : html`<${SubjectView} key=${`${name} ${workersKey}`} runtime=${registry} subject=${name} workers=${workers} />`
      }
    <//>`
  }
  return html`<h1>There is no such page</h1><p><a href=${hrefOf([])}>Overview</a></p>`
}

type WorkerObjectProps = {
  readonly view: 'connectors' | 'topics'
  readonly name: string | undefined
  readonly runtime: Runtime
}

/** A list of what a worker has, or one of them. */
function WorkerObject({ view, name, runtime }: WorkerObjectProps) {
  if (name === undefined)
    return view === 'connectors'
      ? html`<${ConnectorList} runtime=${runtime} />`
      : html`<${TopicList} runtime=${runtime} />`
  return view === 'connectors'
    ? html`<${ConnectorView} key=${name} runtime=${runtime} name=${name} />`
    : html`<${TopicView} key=${name} runtime=${runtime} name=${name} />`
}

function App() {
  const { data, error } = useSession()
  const session = data.value
  return html`
    <a class="skip" href="#content" onClick=${skipToContent}>Skip to the content</a>
    <header>
      <strong><a href=${hrefOf([])}>weir</a></strong>
      ${session && html`<${Navigation} session=${session} />`}
      ${session?.user && html`<span>${session.user.name} <button onClick=${logOut}>Log out</button></span>`}
      ${session && html`<${KeyboardShortcuts} views=${viewsOf(session).map(([path]) => path)} />`}
      <span class="status" role="status" aria-label="Updates">${isLive.value ? 'live' : 'reading periodically'}</span>
    </header>
    <main id="content" tabindex="-1">
      ${error.value && error.value.status !== 401 && html`<p class="error" role="alert">${error.value.message}</p>`}
      ${session ? html`<${Content} session=${session} />` : !error.value && html`<p>Loading …</p>`}
    </main>
    ${needsLogIn.value && html`<${LogIn} key=${needsLogIn.value.realm} ...${needsLogIn.value} />`}
    <${Notices} />
  `
}

/** The hash of the URL is the location of the page, so the link must not change it. */
function skipToContent(event: Event): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}

/** The views of the navigation: the first part of the path and the title. */
function viewsOf(session: ConsoleSession): readonly (readonly [path: string, title: string])[] {
  const kinds = new Set(session.runtimes.map(({ kind }) => kind))
  return [
    ['', 'Overview'],
    ...(kinds.has('worker') ? [['connectors', 'Connectors'] as const] : []),
    ...(kinds.has('worker') ? [['topics', 'Topics'] as const] : []),
    ...(kinds.has('registry') ? [['subjects', 'Subjects'] as const] : []),
    ...(kinds.has('worker') ? [['graph', 'Graph'] as const] : []),
    ...(session.hasResources ? [['resources', 'Resources'] as const] : []),
  ]
}

function Navigation({ session }: { readonly session: ConsoleSession }) {
  const [view = ''] = pageLocation.value.path
  return html`<nav aria-label="Views">
    ${viewsOf(session).map(
      ([path, title]) =>
        html`<a href=${hrefOf(path === '' ? [] : [path])} aria-current=${path === view ? 'page' : undefined}>${title}</a>`,
    )}
  </nav>`
}

const root = document.getElementById('app')
if (root !== null) render(html`<${App} />`, root)
manageFocus()
void followEvents()
