/** Names that LANGUAGE.md has replaced. They must not be used as exported names. */
export const REPLACED_NAMES: ReadonlySet<string> = new Set(
  [
    'Again Pass passesOf passMs isPassing isBrief Trouble Stalled Waiting telling judge bridge',
    'Surroundings Circumstances Moment Grounds Ground Away Finding Verdict Place Reach Way',
    'NewsDesk hear heard wakes wokenBy tell Pen Office think understand Examiner Errand Question',
    'Letter Reading RoundsReading QueueReading Testimony KeyOfNobody ofFight whichIn tellsState',
    'Home HomeRequest Line Lines Rounds inTime nearest GivenAnswer GivenAnswers answerAgain Refusal AnsweredRequest',
  ].flatMap((line) => line.split(' ')),
)

/** Replaced file and folder names, which must not be used. */
export const REPLACED_FILES: ReadonlySet<string> = new Set(
  [
    'trouble.ts news.ts estate.ts reconcilers.ts grants.ts observers.ts leader.ts home.ts line.ts heard.ts',
    'pen.ts examination scope.ts additions.ts lookup.ts given-answers.ts answered.ts refusal.ts',
    'interrogation.ts testimony.ts suspects.ts answerer.ts views.ts serving.ts task-making.ts dump',
    'rounds.ts in-time.ts nearest.ts',
    'flow.ts claims.ts sides.ts write-operation.ts source-listeners.ts task-configs.ts status-class.ts',
  ].flatMap((line) => line.split(' ')),
)

/** Matches exported declarations, but not re-exports. */
export const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|type|interface|enum) ([A-Za-z_$][\w$]*)/gm

const COMMENT = /^ *\/\*\*[\s\S]*?\*\/|(?:^|\s)\/\/ .*$/gm
const QUOTED = /`[^`]*`|(?<!\w)'[^'\n]*'(?!\w)|"[^"\n]*"/g
const CAMEL_CASE = /(?<![\w.$/@-])[a-z]+[A-Z]\w*/g
const CAMEL_CASE_WORDS: ReadonlySet<string> = new Set(['lowerCamelCase', 'macOS', 'preStop'])

/** The identifiers in the comments of a source that are not in backticks or quotes. */
export function unquotedIdentifiers(source: string): readonly string[] {
  return [...source.matchAll(COMMENT)]
    .flatMap(([comment]) => comment.replace(QUOTED, '').match(CAMEL_CASE) ?? [])
    .filter((word) => !CAMEL_CASE_WORDS.has(word))
}
