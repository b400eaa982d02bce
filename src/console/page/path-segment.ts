/** A name as one segment of a path. A lone surrogate, which no URL can contain, becomes U+FFFD. */
export function pathSegment(name: string): string {
  return encodeURIComponent(name.toWellFormed())
}

/**
 * A subject as one segment of a path. Browsers resolve the segments `.` and `..`, also if they are encoded, so a subject
 * with such a name is requested with its context.
 */
export function subjectSegment(subject: string): string {
  return pathSegment(subject === '.' || subject === '..' ? `:.:${subject}` : subject)
}

/** Whether a browser would send a request with this path to another one. */
export function isResolvedByBrowsers(path: string): boolean {
  return (path.split('?', 1)[0] ?? '').split('/').some((segment) => segment === '.' || segment === '..')
}
