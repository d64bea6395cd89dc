// A player that moves at random: no engine, the game manager sends it its legal moves.
//
//   g++ -std=c++17 -O2 -o random_player examples/random_player.cpp
//   ggp match tictactoe --player 'x=cmd+legal:./random_player' --player o=random
#include <cctype>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

using Texts = std::vector<std::string>;

// The elements of the list `text`: elements("(a (b c) d)") is {"a", "(b c)", "d"}.
static Texts elements(const std::string& text) {
    Texts found;
    std::string element;
    int depth = 0;
    const auto finish = [&] {
        if (!element.empty()) found.push_back(element);
        element.clear();
    };
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        const char c = text[i];
        const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
        if (depth == 0 && (is_blank || c == '(')) finish();
        if (is_blank && depth == 0) continue;
        element += c;
        if (c == '(') ++depth;
        if (c == ')' && --depth == 0) finish();
    }
    finish();
    return found;
}

int main() {
    std::map<std::string, Texts> legal_moves;  // by match id
    std::mt19937 random{std::random_device{}()};
    const std::map<std::string, std::string> answers = {
        {"INFO", "((name random_player_cpp) (status available))"},
        {"PING", "ready"},    {"PREVIEW", "ready"}, {"START", "ready"},
        {"STOP", "done"},     {"ABORT", "aborted"},
    };
    std::string line;
    while (std::getline(std::cin, line)) {
        while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back()))) line.pop_back();
        const Texts message = elements(line);
        const std::string keyword = message.empty() ? "" : message[0];
        std::string answer = "nil";
        if (keyword == "LEGAL" && message.size() == 3) {
            legal_moves[message[1]] = elements(message[2]);
            continue;  // the only line that is not answered
        }
        if (const auto found = answers.find(keyword); found != answers.end()) answer = found->second;
        if (keyword == "PLAY" && message.size() > 1 && !legal_moves[message[1]].empty()) {
            const Texts& moves = legal_moves[message[1]];
            answer = moves[std::uniform_int_distribution<std::size_t>(0, moves.size() - 1)(random)];
        }
        std::cout << answer << std::endl;  // endl flushes: the game manager is waiting
    }
}
