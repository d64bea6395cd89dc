// A player that moves at random: no engine, the game manager sends it its legal moves.
//
//   ggp match tictactoe --player 'x=cmd+legal:node examples/random_player.js' --player o=random
"use strict";

const readline = require("node:readline");

/** Return the elements of the list `text`: elements("(a (b c) d)") is ["a", "(b c)", "d"]. */
function elements(text) {
  const found = [];
  let depth = 0;
  let element = "";
  for (const token of text.slice(1, -1).match(/[()]|[^\s()]+/g) ?? []) {
    if (token === ")") depth -= 1;
    const needsBlank = element !== "" && token !== ")" && !element.endsWith("(");
    element += (needsBlank ? " " : "") + token;
    if (token === "(") depth += 1;
    if (depth === 0) {
      found.push(element);
      element = "";
    }
  }
  return found;
}

const legalMoves = new Map(); // by match id

const answers = {
  INFO: () => "((name random_player_js) (status available))",
  PING: () => "ready",
  PREVIEW: () => "ready",
  START: () => "ready",
  PLAY: (matchId) => {
    const moves = legalMoves.get(matchId) ?? ["nil"];
    return moves[Math.floor(Math.random() * moves.length)];
  },
  STOP: () => "done",
  ABORT: () => "aborted",
};

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [keyword, matchId, moves] = elements(line.trim());
  if (keyword === "LEGAL") {
    legalMoves.set(matchId, elements(moves)); // the only line that is not answered
  } else {
    console.log((answers[keyword] ?? (() => "nil"))(matchId));
  }
});
